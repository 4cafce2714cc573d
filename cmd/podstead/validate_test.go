package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func validate(t *testing.T, paths ...string) (int, string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := execute(t.Context(), terminal{out: &out, err: &errs}, append([]string{"validate"}, paths...))
	return code, out.String() + errs.String()
}

func TestValidateNamesEveryFaultWithItsPlace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good.yaml", manifest("good", ""))
	write(t, dir, "bad.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: bad\nspec:\n  containerz: []\n  containers:\n  - name: Main\n---\n"+
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: Also_Bad\nspec:\n  containers:\n  - {name: a, image: b}\n")
	write(t, dir, "other.yaml", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\n")
	write(t, dir, "values.yaml", "apiversion: v1\n")
	write(t, dir, "good.yaml~", "x")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	code, out := validate(t, dir)
	if code != exitFailed {
		t.Errorf("code %d", code)
	}
	for _, part := range []string{"bad.yaml:6:3: spec.containerz", "bad.yaml:13", "metadata.name", "kind DaemonSet of apps/v1 is not run",
		"values.yaml:1:1: not run: this is no Kubernetes object",
		"ignored: " + filepath.Join(dir, "good.yaml~"), "ignored: " + filepath.Join(dir, "sub"), "4 files, 1 pod: "} {
		if !strings.Contains(out, part) {
			t.Errorf("not told: %s", part)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestValidateOfGoodManifests(t *testing.T) {
	dir := t.TempDir()
	elsewhere := write(t, dir, "elsewhere.yaml", manifest("elsewhere", "  nodeName: other\n"))
	privileged := write(t, dir, "privileged.yaml", manifest("p", "  hostNetwork: true\n")+"    securityContext: {privileged: true}\n")
	if code, out := validate(t, elsewhere, privileged); code != 0 || !strings.Contains(out, "2 files, 2 pods: 0 faults, 0 warnings") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestValidateOfWhatIsNotThere(t *testing.T) {
	if code, out := validate(t, "/nowhere/at/all.yaml"); code != exitFailed || !strings.Contains(out, "no such file or directory") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestValidateNamesTakenNames(t *testing.T) { // B02
	dir := t.TempDir()
	write(t, dir, "kiln.yaml", manifest("kiln", ""))
	write(t, dir, "copy of kiln.yaml", manifest("kiln", ""))
	code, out := validate(t, dir)
	if code != 0 || !strings.Contains(out, "its name is taken by "+filepath.Join(dir, "copy of kiln.yaml")) {
		t.Errorf("code %d\n%s", code, out)
	}
}

// Files of the kernel's have the size 0, and some never end (/proc/kmsg).
func TestValidateReadsNoFileOfTheKernel(t *testing.T) {
	if code, out := validate(t, "/proc/version"); code != exitFailed || !strings.Contains(out, "holds no manifest") {
		t.Errorf("code %d: %s", code, out)
	}
}
