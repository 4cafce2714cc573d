package main

import (
	"strings"
	"testing"

	"github.com/podstead/podstead/config"
)

// A repository on this machine is a source's folder like any other: who writes
// there says what runs.
func TestWhereASourceReads(t *testing.T) {
	for _, tt := range []struct {
		name   string
		source config.Source
		folder string
	}{
		{"a folder", config.Source{File: &config.File{Path: "/etc/kiosk"}}, "/etc/kiosk"},
		{"a URL", config.Source{HTTP: &config.HTTP{URL: "http://depot/srv"}}, ""},
		{"a path", config.Source{Git: &config.Git{URL: "/srv/fleet.git"}}, "/srv/fleet.git"},
		{"a file URL", config.Source{Git: &config.Git{URL: "file:///srv/my%20fleet.git"}}, "/srv/my fleet.git"},
		{"a file URL with a host", config.Source{Git: &config.Git{URL: "FILE://localhost/srv/fleet.git"}}, "/srv/fleet.git"},
		{"a server's", config.Source{Git: &config.Git{URL: "https://depot/srv/fleet.git"}}, ""},
		{"a server's in short", config.Source{Git: &config.Git{URL: "git@depot:/srv/fleet.git"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.source.Folder(); got != tt.folder {
				t.Errorf("got %q, want %q", got, tt.folder)
			}
		})
	}
	c := config.Defaults()
	c.Socket = "/run/podstead.sock"
	c.Listed = []config.Source{{Name: "fleet", Git: &config.Git{URL: "/srv/fleet.git"}}, {Name: "page", HTTP: &config.HTTP{}}}
	if why := guarded(c, c.Listed[1]).Forbids("/srv/fleet.git/hooks"); !strings.Contains(why, "the place of source fleet") {
		t.Errorf("a URL's pod may mount it: %q", why)
	}
}
