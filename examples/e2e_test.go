//go:build e2e

package examples

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// program is the podstead under test.
var program string

func TestMain(m *testing.M) { os.Exit(rig.Main(m, &program)) }

// once runs a folder with `podstead run --runonce` and returns what it said.
func once(t *testing.T, folder, root string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "run", "--runonce", "--runonce-timeout", "90s",
		"--pod-manifest-path", folder, "--root-dir", root,
		"--hostname-override", node.Name, "--node-labels", "site=lab")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, &said)
	}
}

// containers lists the node's containers on the engine.
func containers(t *testing.T) []rig.Box {
	t.Helper()
	// Also after a test that did not get to its end.
	found, err := rig.NewEngine(rig.Socket).PS(context.WithoutCancel(t.Context()), node.Name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// checks are made while an example runs. A pod is up when its processes run;
// what they do then takes a moment more, so a check is tried until it holds.
var checks = map[string]func() error{
	"web.yaml": func() error {
		resp, err := http.Get("http://127.0.0.1:8080/")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err == nil && string(body) != "Hello, world\n" {
			err = fmt.Errorf("the page says %q", body)
		}
		return err
	},
	"host-network.yaml": func() error {
		_, err := os.Stat("/var/tmp/podstead-example/load")
		return err
	},
}

// eventually tries a check for up to ten seconds.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := rig.Until(ctx, 50*time.Millisecond, check); err != nil {
		t.Error(err)
	}
}

func TestEachExampleRuns(t *testing.T) {
	t.Cleanup(func() { os.RemoveAll("/var/tmp/podstead-example") })
	for _, file := range files(t) {
		t.Run(file, func(t *testing.T) {
			folder, root := t.TempDir(), t.TempDir()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(folder, file)
			if err := os.WriteFile(copied, data, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { removeAll(t) })

			once(t, folder, root)
			if len(containers(t)) == 0 {
				t.Error("no container of it is on the engine")
			}
			if check := checks[file]; check != nil {
				eventually(t, check)
			}

			// Without its manifest the pod goes, by the same command.
			if err := os.Remove(copied); err != nil {
				t.Fatal(err)
			}
			once(t, folder, root)
			if left := containers(t); len(left) != 0 {
				t.Errorf("still there after the manifest was removed: %v", left)
			}
		})
	}
}

// removeAll clears the engine after a test that did not get to its end.
func removeAll(t *testing.T) {
	for _, box := range containers(t) {
		if err := rig.NewEngine(rig.Socket).Remove(context.WithoutCancel(t.Context()), box.ID); err != nil {
			t.Error(err)
		}
	}
}
