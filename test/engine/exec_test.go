//go:build e2e

package engine

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// A command whose engine goes away has no end that anybody knows: exec says so, and
// says why, and the agent is none the worse.
func TestTheEngineGoesAwayDuringAnExec(t *testing.T) {
	t.Parallel()
	d := newDockerd(t, "--live-restore")
	a := newAgent(t, d)
	w := web{name: "web", version: 1}
	a.put("web", w.manifest(a))
	a.start()
	a.settles("the pod runs", w)
	for _, c := range []struct {
		name string
		end  func()
	}{
		{"killed", d.kill},
		{"ended", d.terminate},
	} {
		cmd := exec.Command(program, "exec", "--root-dir", a.root, "web", "-c", app, "--", "sh", "-c", "echo begun; exec sleep 100000")
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		_, err = io.ReadFull(out, make([]byte, len("begun\n")))
		must(t, err)
		c.end()
		_, _ = io.Copy(io.Discard, out) // until it has ended
		_ = cmd.Wait()                  // its exit code tells
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "the command's exit code is not known") {
			t.Errorf("%s: exit %d, %q", c.name, code, said.String())
		}
		a.works()
		d.up()
		until(t, "a command runs again", func() error {
			if text, err := exec.Command(program, "exec", "--root-dir", a.root, "web", "-c", app, "--", "echo", "here").CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, text)
			}
			return nil
		})
	}
	a.finish()
}
