package agent

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/podstead/podstead/manifests"
)

func TestViewsOnDisk(t *testing.T) {
	records := NewRecords(t.TempDir())
	if err := os.MkdirAll(filepath.Join(records.dir, "u"), 0o700); err != nil {
		t.Fatal(err)
	}
	objects := manifests.NewObjects([]*manifests.Object{secret("pass", "a\x00b\n"), configMap("conf", "x")})
	mark := viewMark{Turn: 3, Digest: viewDigest(objects)}
	if err := records.saveView("u", mark, objects); err != nil {
		t.Fatal(err)
	}
	got, loaded, err := records.loadView("u")
	if err != nil || got != mark || !loaded.Same(objects) {
		t.Fatalf("loaded %+v %v, %v", got, loaded, err)
	}
	if s := string(loaded.Secrets()["pass"].Data["key"]); s != "a\x00b\n" {
		t.Errorf("the secret is %q", s)
	}
	path := records.viewPath("u")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damages := map[string][]byte{
		"cut":     whole[:len(whole)-20],
		"a value": []byte(strings.Replace(string(whole), `"x"`, `"y"`, 1)),
		"a mark":  []byte(strings.Replace(string(whole), mark.Digest, viewDigest(objects[:1]), 1)),
		"newer":   []byte(strings.Replace(string(whole), `"version":1`, `"version":9`, 1)),
		"another": []byte(strings.Replace(string(whole), `"uid":"u"`, `"uid":"v"`, 1)),
		"nothing": {},
	}
	for _, name := range slices.Sorted(maps.Keys(damages)) {
		if err := os.WriteFile(path, damages[name], 0o600); err != nil {
			t.Fatal(err)
		}
		mark, loaded, err := records.loadView("u")
		if err == nil || mark != (viewMark{}) || loaded != nil {
			t.Errorf("%s: loaded %+v %v, %v", name, mark, loaded, err)
		}
		if err != nil && strings.Contains(err.Error(), "key") {
			t.Errorf("%s: the error quotes the file: %v", name, err)
		}
	}
}
