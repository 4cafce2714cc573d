package rig

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Main brings the program, writes its path into where, runs the tests, and
// returns the exit code of the whole.
func Main(tests interface{ Run() int }, where *string) int {
	dir, err := os.MkdirTemp("", "podstead-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if *where, err = program(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return tests.Run()
}

// program returns PODSTEAD_BIN, or a podstead built from this tree into dir.
func program(dir string) (string, error) {
	if bin := os.Getenv("PODSTEAD_BIN"); bin != "" {
		return bin, nil
	}
	bin := filepath.Join(dir, "podstead")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/podstead/podstead/cmd/podstead").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build podstead: %w\n%s", err, out)
	}
	return bin, nil
}

// Hack runs a script of the folder hack, as seen from a package two folders
// deep, against the engine of this socket, "" for the machine's. It returns what
// the script printed; the error holds that too.
func Hack(socket, script string, args ...string) ([]byte, error) {
	cmd := exec.Command("../../hack/"+script, args...)
	cmd.Env = os.Environ()
	if socket != "" {
		cmd.Env = append(cmd.Env, "DOCKER_HOST=unix://"+socket)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return out, err
}

// FreePort is a port of this host that nobody listens on, on any address.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// RunDir is where the agent of a root-dir keeps what must not reach a disk; ""
// when none has ever run there.
func RunDir(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "node.json"))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	var node struct{ NodeID string }
	if err == nil {
		err = json.Unmarshal(text, &node)
	}
	if err == nil && node.NodeID == "" {
		err = errors.New("node.json names no node id")
	}
	return filepath.Join("/run/podstead", node.NodeID), err
}

// RemoveRunDir takes it away, once the agent has ended for good.
func RemoveRunDir(root string) error {
	dir, err := RunDir(root)
	if err != nil || dir == "" {
		return err
	}
	return os.RemoveAll(dir)
}
