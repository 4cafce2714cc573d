//go:build e2e

package engine

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// B163: a dockerd that is killed between the start of a process and its own
// note thereof forgets the process, and takes its container for one that was
// never started. That process does not run on beside another. The note is
// written back here: the moment itself is too short to strike in.
func TestProcessThatTheEngineForgets(t *testing.T) {
	t.Parallel()
	d := newDockerd(t, "--live-restore")
	a := newAgent(t, d)
	w := web{name: "web", version: 1}
	a.start()
	a.put("web", w.manifest(a))
	p := a.settles("the pod runs", w)["web"]
	before := a.pids()[w.mark(a, app)]

	d.kill()
	d.forget(strings.TrimPrefix(containerIDs(p)[app], "docker://"))
	d.up()

	until(t, "the container runs anew", func() error {
		if slices.Equal(a.pids()[w.mark(a, app)], before) {
			return errors.New("the process of before runs")
		}
		return nil
	})
	a.settles("the pod runs once", w)
	a.finish()
}

// forget makes a dockerd that does not run take a container for one that it
// never started.
func (d *dockerd) forget(id string) {
	d.t.Helper()
	file := filepath.Join(d.dir, "data", "containers", id, "config.v2.json")
	text, err := os.ReadFile(file)
	must(d.t, err)
	var config map[string]any
	must(d.t, json.Unmarshal(text, &config))
	config["State"] = map[string]any{}
	text, err = json.Marshal(config)
	must(d.t, err)
	must(d.t, os.WriteFile(file, text, 0o600))
}
