package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzConfig: whatever a file holds, it is a configuration, the same one every time,
// or each fault has its file; and no secret is shown.
func FuzzConfig(f *testing.F) {
	const document = "apiVersion: podstead/v1alpha1\nkind: Configuration\n"
	f.Add([]byte(header + "maxPods: 20\nsyncFrequency: 1m\n"))
	f.Add([]byte(document + "sources:\n- name: a\n  file: {path: /a}\n- name: b\n  interval: 1m\n  policy: edge\n  http: {url: https://b.example/x, headers: {Authorization: Bearer secretword}}\n"))
	f.Add([]byte(document + "sources:\n- {name: c, objectsFrom: [c], maxRemoval: 50%, git: {url: https://c.example/x.git, ref: main, paths: [a, b]}}\nwebhook: {address: 127.0.0.1:9000, secretFile: /x}\n---\n" + header))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte(document + "sources: &s\n- &x {name: a, file: &p {path: /}}\n- {<<: *x, name: b}\n"))
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(string) ([]byte, error) { return data, nil }
		loader := Loader{Flags: Flags{Config: "/c/config.yaml"}, Etc: "/etc/podstead", Read: read}
		c, warnings, err := loader.Load()
		shown := strings.Join(warnings, "\n")
		if err != nil {
			shown += err.Error()
		} else {
			checkLoaded(t, loader, c, data)
			shown += strings.Join(settings(c), "\n")
		}
		if strings.Count(string(data), "secretword") == 1 && strings.Contains(string(data), ", headers: {Authorization: Bearer secretword}}") && strings.Contains(shown, "secretword") {
			t.Fatalf("a secret is shown: %s", shown)
		}
		faults, _ := CheckFile("c.yaml", read, nil)
		for _, fault := range faults {
			if !strings.HasPrefix(fault, "c.yaml:") {
				t.Fatalf("a fault without its file: %s", fault)
			}
		}
		if (len(faults) == 0) != (err == nil) {
			t.Fatalf("faults %q, error %v", faults, err)
		}
	})
}

func checkLoaded(t *testing.T, loader Loader, c Config, data []byte) {
	t.Helper()
	again, _, err := loader.Load()
	if err != nil || !reflect.DeepEqual(c, again) {
		t.Fatalf("%+v, then %+v, %v", c, again, err)
	}
	if err := c.Validate(); err != nil {
		t.Fatalf("loaded, and not valid: %v", err)
	}
	if !Holds(data) && len(c.Listed) > 0 {
		t.Fatalf("%q is a configuration, and does not look like one", data)
	}
}

// settings are those that `podstead config show` shows.
func settings(c Config) []string {
	var lines []string
	for _, s := range c.Settings() {
		lines = append(lines, strings.TrimSpace(s.Name+" "+s.Value))
	}
	return lines
}
