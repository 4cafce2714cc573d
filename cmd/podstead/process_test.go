package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
)

// startProcess starts podstead itself, with an engine that does not answer.
func startProcess(t *testing.T, root string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(self, append([]string{"run", "--root-dir", root, "--docker-endpoint", "unix://" + filepath.Join(root, "none.sock")}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "PODSTEAD_TEST_MAIN=1"), &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &log
}

func TestTheProcessEndsWithin2SecondsOfASignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			b, root := newBench(t), t.TempDir()
			cmd, log := startProcess(t, root, "--pod-manifest-path", b.cfg.Manifests[0])
			client := api.NewClient(config.SocketPath(root, ""))
			b.until("the agent answers although the engine does not", func() bool { // B164
				s, err := client.Status(t.Context())
				return err == nil && s.Engine.Error != ""
			})
			began := time.Now()
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, log)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("took %s", took)
			}
			for line := range strings.Lines(log.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not a structured line: %s", line)
				}
			}
		})
	}
}

func TestAProcessReadsItsConfigurationAtSIGHUP(t *testing.T) {
	b, root := newBench(t), t.TempDir()
	file := write(t, t.TempDir(), "config.yaml", listed(b.folderSource("one")))
	cmd, log := startProcess(t, root, "--config", file)
	client := api.NewClient(config.SocketPath(root, ""))
	taken := func() time.Time {
		s, err := client.Status(t.Context())
		if err != nil {
			return time.Time{}
		}
		return s.Configuration.Taken
	}
	b.until("the agent answers", func() bool { return !taken().IsZero() })
	first := taken()
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	b.until("an unchanged file is taken over again", func() bool { return taken().After(first) })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}

func TestAProcessWithABadConfigurationEndsWith2(t *testing.T) {
	cmd, log := startProcess(t, t.TempDir(), "--max-pods=many", "--sync-frequency=never")
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != cli.ExitConfig || !strings.Contains(log.String(), "--max-pods") || !strings.Contains(log.String(), "--sync-frequency") {
		t.Errorf("%v\n%s", err, log)
	}
}
