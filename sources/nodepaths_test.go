package sources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A node with links: /node/lib is the root-dir's parent, /node/data leads to it.
func TestForbids(t *testing.T) {
	node, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"lib/podstead/pods", "run", "srv/fleet", "srv/music", "home"} {
		if err := os.MkdirAll(filepath.Join(node, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(node, "run/docker.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"data": "lib/podstead", "root": "/", "up": "srv/..", "var-run": filepath.Join(node, "run"), "chain": "var-run",
		"loop": "loop", "into-nothing": filepath.Join(node, "lib/podstead/new"), "kept": "srv/fleet", "tunes": "srv/music",
	} {
		if err := os.Symlink(target, filepath.Join(node, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(node, "run/docker.sock"), filepath.Join(node, "home/socket")); err != nil {
		t.Fatal(err)
	}
	paths := NewNodePaths(
		NodePath{Path: filepath.Join(node, "lib/podstead"), Use: "the root-dir"},
		NodePath{Path: filepath.Join(node, "var-run/docker.sock"), Use: "the engine's socket"},
		NodePath{Path: filepath.Join(node, "kept") + "/", Use: "the folder of source files"},
		NodePath{Path: filepath.Join(node, "later/etc"), Use: "podstead's configuration"},
	)
	for _, tc := range []struct {
		name, path string
		want       string // NODE for node; "" when it may be mounted
	}{
		{name: "itself", path: "NODE/lib/podstead", want: "NODE/lib/podstead is the root-dir NODE/lib/podstead"},
		{name: "written with more", path: "NODE/lib//./podstead/", want: "NODE/lib/podstead is the root-dir NODE/lib/podstead"},
		{name: "within", path: "NODE/lib/podstead/pods/x/y", want: "NODE/lib/podstead/pods/x/y lies in the root-dir NODE/lib/podstead"},
		{name: "parent", path: "NODE/lib", want: "NODE/lib contains the root-dir NODE/lib/podstead"},
		{name: "root", path: "/", want: "/ contains the root-dir NODE/lib/podstead"},
		{name: "a name that begins alike", path: "NODE/lib/podstead-other"},
		{name: "beside it", path: "NODE/srv/music"},
		{name: "what is not there", path: "NODE/mnt/usb"},
		{name: "a link to it", path: "NODE/data", want: "NODE/data leads to NODE/lib/podstead, which is the root-dir NODE/lib/podstead"},
		{name: "through a link", path: "NODE/data/pods", want: "NODE/data/pods leads to NODE/lib/podstead/pods, which lies in the root-dir NODE/lib/podstead"},
		{name: "through a link, not there yet", path: "NODE/data/new/folder", want: "NODE/data/new/folder leads to NODE/lib/podstead/new/folder, which lies in the root-dir NODE/lib/podstead"},
		{name: "a link to nothing yet", path: "NODE/into-nothing", want: "NODE/into-nothing leads to NODE/lib/podstead/new, which lies in the root-dir NODE/lib/podstead"},
		{name: "a link to everything", path: "NODE/root", want: "NODE/root leads to /, which contains the root-dir NODE/lib/podstead"},
		{name: "through a link to everything", path: "NODE/rootNODE/lib/podstead/pods", want: "NODE/rootNODE/lib/podstead/pods leads to NODE/lib/podstead/pods, which lies in the root-dir NODE/lib/podstead"},
		{name: "a link with dots", path: "NODE/up", want: "NODE/up leads to NODE, which contains the root-dir NODE/lib/podstead"},
		{name: "a link to what is free", path: "NODE/tunes"},
		{name: "a loop", path: "NODE/loop"},
		{name: "a socket under its other name", path: "NODE/run/docker.sock", want: "NODE/run/docker.sock is the engine's socket NODE/var-run/docker.sock"},
		{name: "a socket's folder by two links", path: "NODE/chain", want: "NODE/chain leads to NODE/run, which contains the engine's socket NODE/var-run/docker.sock"},
		{name: "a hard link", path: "NODE/home/socket", want: "NODE/home/socket is the engine's socket NODE/var-run/docker.sock"},
		{name: "a source that is a link", path: "NODE/srv/fleet/a.yaml", want: "NODE/srv/fleet/a.yaml lies in the folder of source files NODE/kept"},
		{name: "the folder that holds the link", path: "NODE/srv", want: "NODE/srv contains the folder of source files NODE/kept"},
		{name: "a path that is not there yet", path: "NODE/later", want: "NODE/later contains podstead's configuration NODE/later/etc"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fill := func(s string) string { return strings.ReplaceAll(s, "NODE", node) }
			if got := paths.Forbids(fill(tc.path)); got != fill(tc.want) {
				t.Errorf("got  %q\nwant %q", got, fill(tc.want))
			}
		})
	}
}

func TestForbidsWhatProcLeadsTo(t *testing.T) {
	paths := NewNodePaths(NodePath{Path: "/etc/podstead", Use: "podstead's configuration"})
	for _, path := range []string{"/proc/self/root", "/proc/self/root/etc/podstead"} {
		if paths.Forbids(path) == "" {
			t.Errorf("%s may be mounted", path)
		}
	}
}

func TestNoNodePathsForbidNothing(t *testing.T) {
	var none *NodePaths
	if why := none.Forbids("/"); why != "" {
		t.Error(why)
	}
}
