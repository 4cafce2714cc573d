package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/podstead/podstead/cli"
)

func validate(t *testing.T, paths ...string) (int, string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := execute(t.Context(), cli.Terminal{Out: &out, Err: &errs}, append([]string{"validate"}, paths...))
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
	if code != cli.ExitFailed {
		t.Errorf("code %d", code)
	}
	for _, part := range []string{"bad.yaml:6:3: spec.containerz", "bad.yaml:13", "metadata.name", "kind DaemonSet of apps/v1 is not supported yet",
		"values.yaml:1:1: not supported: this is no Kubernetes object",
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
	if code, out := validate(t, "/nowhere/at/all.yaml"); code != cli.ExitFailed || !strings.Contains(out, "no such file or directory") {
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
	if code, out := validate(t, "/proc/version"); code != cli.ExitFailed || !strings.Contains(out, "holds no manifest") {
		t.Errorf("code %d: %s", code, out)
	}
}

func TestValidateOfObjects(t *testing.T) {
	dir := t.TempDir()
	object := func(kind, name, more string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + more + "}\n"
	}
	good := write(t, dir, "good.yaml", object("ConfigMap", "kiln", "")+"---\n"+object("Secret", "door", "")+
		"---\n"+object("Secret", "each", ", annotations: {podstead/node-selector: zone=a}")+
		"---\n"+object("Secret", "each", ", annotations: {podstead/node-selector: zone=b}"))
	if code, out := validate(t, good); code != 0 || out != "1 file, 0 pods, 4 objects: 0 faults, 0 warnings\n" {
		t.Errorf("code %d\n%s", code, out)
	}
	bad := write(t, dir, "bad.yaml", object("Secret", "door", "")+"data: {code: hunter2}\n---\n"+
		object("Secret", "other", ", annotations: {podstead/node-selector: '='}"))
	code, out := validate(t, good, write(t, dir, "copy.yaml", object("ConfigMap", "kiln", "")), bad)
	for _, part := range []string{
		"copy.yaml:1:1: ConfigMap default/kiln would not be used: its name is taken by " + good + ":1:1",
		"bad.yaml:4:14: data[code]: not base64",
		"bad.yaml:8:39: metadata.annotations[podstead/node-selector]: not a label selector",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("not told: %s", part)
		}
	}
	if code != cli.ExitFailed || strings.Contains(out, "hunter2") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestValidateAsASourceOfAnotherPolicy(t *testing.T) {
	pod := write(t, t.TempDir(), "pod.yaml", manifest("p", "  hostNetwork: true\n"))
	if code, out := validate(t, pod); code != 0 {
		t.Errorf("code %d\n%s", code, out)
	}
	code, out := validate(t, "--policy", "edge", pod)
	if code != cli.ExitFailed || !strings.Contains(out, pod+":1:1: violates policy edge: host namespaces (hostNetwork=true)") {
		t.Errorf("code %d\n%s", code, out)
	}
	if code, out := validate(t, "--policy=open", pod); code != cli.ExitConfig || !strings.Contains(out, "privileged") {
		t.Errorf("code %d\n%s", code, out)
	}
}

// A pipe that nobody writes into would keep a reader waiting.
func TestValidateWaitsForNoPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := validate(t, dir); code != cli.ExitFailed || !strings.Contains(out, "pipe.yaml: is a pipe, not a file") {
		t.Errorf("code %d\n%s", code, out)
	}
}

// Whatever a validation waits for, here somebody to read what it tells, the
// first signal ends it.
func TestASignalEndsAValidation(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Repeat("---\n{apiVersion: v1, kind: Pod, metadata: {name: Not_A_Name}, spec: {containers: [{name: a, image: b}]}}\n", 900)
	reading, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	cmd := exec.Command(self, "validate", write(t, t.TempDir(), "wrong.yaml", wrong))
	cmd.Env, cmd.Stdout = append(os.Environ(), "PODSTEAD_TEST_MAIN=1"), writing
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writing.Close()
	if _, err := reading.Read(make([]byte, 1)); err != nil { // it tells, and the pipe will be full
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("ended as %s", cmd.ProcessState)
	}
}

func TestValidateOfAConfiguration(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "good.yaml", header+"maxPods: 7\nenableServer: true\n---\n"+documentHeader+"sources: [{name: a, file: {path: /a}}]\n")
	code, out := validate(t, good)
	if code != 0 || !strings.Contains(out, "warning: "+good+":4:1: enableServer has no effect") || !strings.HasSuffix(out, "1 file, 0 pods, 1 configuration: 0 faults, 1 warning\n") {
		t.Errorf("code %d\n%s", code, out)
	}
	bad := write(t, dir, "bad.yaml", header+"maxPods: -1\n---\n"+documentHeader+"sorces: []\nsources: [{name: Bad_Name, git: {url: 'https://h/r', rev: x}}]\n")
	code, out = validate(t, bad)
	for _, part := range []string{bad + ":7:1: sorces: unknown field", bad + ":8:12: sources[0].name: \"Bad_Name\" cannot name a source",
		bad + ":8:54: sources[0].git.rev: unknown field", bad + ":3:1: maxPods (--max-pods): must be at least 1", "4 faults"} {
		if !strings.Contains(out, part) {
			t.Errorf("not told: %s", part)
		}
	}
	if code != cli.ExitFailed || t.Failed() {
		t.Errorf("code %d\n%s", code, out)
	}
	for name, text := range map[string]string{"another version": "apiVersion: podstead/v9\nkind: Configuration\n", "no version": "kind: Configuration\n"} {
		if code, out := validate(t, write(t, dir, "version.yaml", text)); code != cli.ExitFailed || !strings.Contains(out, "must be kubelet.config.k8s.io/v1beta1, KubeletConfiguration or podstead/v1alpha1, Configuration") {
			t.Errorf("%s: code %d\n%s", name, code, out)
		}
	}
	up := write(t, dir, "up.yaml", documentHeader+"sources: [{name: fleet, git: {url: 'https://h/r', paths: [../up, ../off]}}]\n")
	if code, out := validate(t, up); code != cli.ExitFailed || !strings.Contains(out, "source fleet:") {
		t.Errorf("code %d\n%s", code, out)
	}
	foreign := write(t, dir, "foreign.yaml", "apiVersion: pkg.example/v1\nkind: Configuration\nmetadata: {name: x}\n")
	if code, out := validate(t, foreign); code != 0 || !strings.Contains(out, "kind Configuration of pkg.example/v1 is not supported") {
		t.Errorf("code %d\n%s", code, out)
	}
}

// Who writes a manifest must not write on the terminal of who checks it.
func TestAManifestDoesNotReachTheTerminal(t *testing.T) {
	manifest := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(manifest, []byte("apiVersion: v1\nkind: Pod\n\"\\e[2J\\nmetadata\": a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, text := validate(t, manifest)
	if strings.Contains(text, "\x1b") || strings.Contains(text, "\nmetadata") {
		t.Errorf("%q", text)
	}
}
