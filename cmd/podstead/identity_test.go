package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhoTheNodeIs(t *testing.T) {
	written := identity{Name: "edge-1", NodeID: "id1", MachineID: "m1"}
	cases := []struct {
		name    string
		before  identity
		now     host
		want    identity
		warning string
	}{
		{"first start", identity{}, host{"edge-1", "m1"}, identity{"edge-1", "new", "m1"}, ""},
		{"first start without a machine id", identity{}, host{"edge-1", ""}, identity{"edge-1", "new", ""}, ""},
		{"as before", written, host{"edge-1", "m1"}, written, ""},
		{"renamed by DHCP", written, host{"dhcp-7", "m1"}, written, `keeps the name "edge-1"`},
		{"cloned card", written, host{"edge-2", "m2"}, identity{"edge-2", "id1", "m2"}, `the node is now "edge-2"`},
		{"cloned card, same host name", written, host{"edge-1", "m2"}, identity{"edge-1", "id1", "m2"}, ""},
		{"machine id cannot be read now", written, host{"dhcp-7", ""}, written, `keeps the name "edge-1"`},
		{"machine id learned later", identity{"edge-1", "id1", ""}, host{"edge-1", "m2"}, identity{"edge-1", "id1", "m2"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := settle(c.before, c.now, func() string { return "new" })
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			told := strings.Join(warnings, "\n")
			if (told == "") != (c.warning == "") || !strings.Contains(told, c.warning) {
				t.Errorf("warnings %q, want %q", told, c.warning)
			}
		})
	}
}

func TestTheIdentityOutlivesRestartsAndOverrides(t *testing.T) {
	dir := t.TempDir()
	first, _, err := loadIdentity(dir, "override", host{"edge-1", "m1"})
	if err != nil || first.Name != "override" {
		t.Fatalf("%+v, %v", first, err)
	}
	second, warnings, err := loadIdentity(dir, "", host{"edge-1", "m1"})
	if err != nil || second.Name != "edge-1" || second.NodeID != first.NodeID || len(warnings) > 0 {
		t.Errorf("%+v, %q, %v", second, warnings, err)
	}
	info, err := os.Stat(filepath.Join(dir, "node.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("node.json: %v, %v", info, err)
	}
	write(t, dir, "node.json", "{")
	if _, _, err := loadIdentity(dir, "", host{"edge-1", "m1"}); err == nil || !strings.Contains(err.Error(), "node.json") {
		t.Errorf("a torn identity is taken anew: %v", err)
	}
}

func TestOneAgentPerRootDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	unlock, err := lockRootDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockRootDir(dir); !errors.Is(err, errLocked) || !strings.Contains(err.Error(), "process ") || strings.Contains(err.Error(), "unknown") {
		t.Errorf("second lock: %v", err)
	}
	unlock()
	again, err := lockRootDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("root-dir: %v, %v", info, err)
	}
}
