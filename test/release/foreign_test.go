//go:build e2e

package release

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/podstead/podstead/test/rig"
)

// patience is how long a condition may take to hold, on a busy machine under qemu.
const patience = 3 * time.Minute

// emulators are the programs of qemu-user that run those of an architecture.
var emulators = map[string][]string{
	"amd64":   nil,
	"arm64":   {"qemu-aarch64-static"},
	"armv7":   {"qemu-arm-static", "-cpu", "cortex-a7"},
	"riscv64": {"qemu-riscv64-static"},
}

// platform is what a program says of itself.
func platform(arch string) string { return "linux/" + strings.TrimSuffix(arch, "v7") }

// machine is a node whose podstead is of some architecture.
type machine struct {
	*testing.T
	name      string
	command   []string // that runs podstead
	root      string
	manifests string
	agent     *rig.Process
}

func newMachine(t *testing.T, command ...string) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "podstead-release-") // short: the name of a socket has 107 bytes
	must(t, err)
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(t.Name()), "-")
	m := &machine{
		T: t, name: fmt.Sprintf("%s-%d", name[max(0, len(name)-30):], os.Getpid()), command: command,
		root: filepath.Join(dir, "root"), manifests: filepath.Join(dir, "manifests"),
	}
	must(t, os.Mkdir(m.manifests, 0o700))
	t.Cleanup(func() {
		must(t, rig.RemoveRunDir(m.root))
		must(t, os.RemoveAll(dir))
	})
	return m
}

// podstead runs it with arguments, and returns what it prints.
func (m *machine) podstead(args ...string) (string, error) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), patience)
	defer cancel()
	cmd := m.with(exec.CommandContext(ctx, m.command[0], append(m.command[1:len(m.command):len(m.command)], args...)...))
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("podstead %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

func (m *machine) with(cmd *exec.Cmd) *exec.Cmd {
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PODSTEAD_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "PODSTEAD_ROOT_DIR="+m.root)
	return cmd
}

// start runs an agent, until the test ends it or itself ends.
func (m *machine) start() {
	m.Helper()
	args := append(m.command[1:len(m.command):len(m.command)], "run", "--hostname-override", m.name, "--pod-manifest-path", m.manifests)
	cmd := m.with(exec.Command(m.command[0], args...))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // an agent does not outlive its test
	agent, err := rig.Start(cmd, m.root+".log")
	must(m.T, err)
	m.agent = agent
	m.Cleanup(func() {
		m.drop("lamp.yaml")
		m.until("nothing of it is left", func() error {
			boxes, err := rig.NewEngine(rig.Socket).PS(context.Background(), m.name)
			if err == nil && len(boxes) > 0 {
				err = fmt.Errorf("%v", boxes)
			}
			return err
		})
		if _, err := agent.End(syscall.SIGTERM, patience); err != nil {
			m.Errorf("the agent ends with %v\n%s", err, m.log())
		}
	})
}

func (m *machine) log() string {
	data, _ := os.ReadFile(m.root + ".log") // for people
	return string(data)
}

func (m *machine) put(name, text string) {
	m.Helper()
	must(m.T, os.WriteFile(filepath.Join(m.manifests, "."+name), []byte(text), 0o600))
	must(m.T, os.Rename(filepath.Join(m.manifests, "."+name), filepath.Join(m.manifests, name)))
}

func (m *machine) drop(name string) {
	m.Helper()
	if err := os.Remove(filepath.Join(m.manifests, name)); err != nil && !os.IsNotExist(err) {
		m.Error(err)
	}
}

// until asks again and again, while the agent runs.
func (m *machine) until(what string, ask func() error) {
	m.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.agent.Until(ctx, 200*time.Millisecond, ask); err != nil {
		m.Fatalf("never came: %s: %v\n%s", what, err, m.log())
	}
}

// says asks podstead until its answer has these words.
func (m *machine) says(words string, args ...string) {
	m.Helper()
	m.until(strings.Join(args, " "), func() error {
		out, err := m.podstead(args...)
		if err == nil && !strings.Contains(out, words) {
			err = fmt.Errorf("%q", out)
		}
		return err
	})
}

// lamp has a volume in memory, which the agent mounts.
const lamp = `apiVersion: v1
kind: Pod
metadata: {name: lamp}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: podstead-test/busybox:1, command: [sh, -c, "df -h /m && exec sleep 1000000"], volumeMounts: [{name: m, mountPath: /m}]}
  volumes: [{name: m, emptyDir: {medium: Memory, sizeLimit: 3Mi}}]
`

// What boards run is run here: each program tells its version, checks manifests,
// and as an agent runs a pod. That is the engine's architecture's, not the agent's:
// it runs though the two differ.
func TestEachProgramRuns(t *testing.T) {
	for _, arch := range arches {
		t.Run(arch, func(t *testing.T) {
			m := newMachine(t, append(emulators[arch], program(t, arch))...)
			if out, err := m.podstead("version", "--client"); err != nil || !strings.Contains(out, version(t)+" ") || !strings.Contains(out, platform(arch)) {
				t.Errorf("its version is %q, %v", out, err)
			}
			if out, err := m.podstead("validate", filepath.Join(source, "examples")); err != nil || !strings.Contains(out, "0 faults") {
				t.Errorf("it says of the examples: %q, %v", out, err)
			}
			m.start()
			m.says("Sources   file: Ready", "status")
			m.put("lamp.yaml", lamp)
			m.says("Running", "get", "pods")
			m.says("3.0M", "logs", "lamp")
		})
	}
}

// The unit takes from the agent what it does not need, and no more: with the
// capabilities that it leaves, pods run, volumes in memory included.
func TestTheUnitLeavesTheAgentWhatItNeeds(t *testing.T) {
	unit, err := os.ReadFile(filepath.Join(source, "packaging/podstead.service"))
	must(t, err)
	line := regexp.MustCompile(`(?m)^CapabilityBoundingSet=(.*)$`).FindSubmatch(unit)
	if line == nil {
		t.Fatal("the unit bounds no capabilities")
	}
	left := "-all"
	for _, word := range strings.Fields(string(line[1])) {
		left += ",+" + strings.ToLower(strings.TrimPrefix(word, "CAP_"))
	}
	command := append([]string{"setpriv", "--no-new-privs", "--bounding-set", left}, emulators[arches[0]]...)
	m := newMachine(t, append(command, program(t, arches[0]))...)
	m.start()
	m.put("lamp.yaml", lamp)
	m.says("Running", "get", "pods")
	m.says("3.0M", "logs", "lamp")
}

// The pause program of each architecture waits, and leaves at once when it is told.
func TestPauseLeavesWhenItIsTold(t *testing.T) {
	for arch, emulator := range emulators {
		t.Run(arch, func(t *testing.T) {
			command := append(emulator[:len(emulator):len(emulator)], "../../runtime/docker/pause/bin/pause-"+strings.TrimSuffix(arch, "v7"))
			pause, err := rig.Start(exec.Command(command[0], command[1:]...), filepath.Join(t.TempDir(), "log"))
			must(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err = pause.Until(ctx, 10*time.Millisecond, func() error { return waits(pause.PID()) })
			if err != nil {
				t.Fatal(err)
			}
			if took, err := pause.End(syscall.SIGTERM, patience); err != nil {
				t.Errorf("it ends after %s with %v", took, err)
			}
		})
	}
}

// waits is nil when a process waits for a signal; under qemu too it is this machine's
// kernel that it asks.
func waits(pid int) error {
	call, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	if err == nil && !strings.HasPrefix(string(call), strconv.Itoa(unix.SYS_RT_SIGTIMEDWAIT)+" ") {
		err = fmt.Errorf("it is at %q", call)
	}
	return err
}
