package main

import (
	"strings"
	"testing"
)

// A repository on this machine is a source's folder like any other: who writes
// there says what runs.
func TestWhereASourceReads(t *testing.T) {
	for _, tt := range []struct {
		name   string
		source sourceSpec
		folder string
	}{
		{"a folder", sourceSpec{File: &fileSpec{Path: "/etc/kiosk"}}, "/etc/kiosk"},
		{"a URL", sourceSpec{HTTP: &httpSpec{URL: "http://depot/srv"}}, ""},
		{"a path", sourceSpec{Git: &gitSpec{URL: "/srv/fleet.git"}}, "/srv/fleet.git"},
		{"a file URL", sourceSpec{Git: &gitSpec{URL: "file:///srv/my%20fleet.git"}}, "/srv/my fleet.git"},
		{"a file URL with a host", sourceSpec{Git: &gitSpec{URL: "FILE://localhost/srv/fleet.git"}}, "/srv/fleet.git"},
		{"a server's", sourceSpec{Git: &gitSpec{URL: "https://depot/srv/fleet.git"}}, ""},
		{"a server's in short", sourceSpec{Git: &gitSpec{URL: "git@depot:/srv/fleet.git"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.source.folder(); got != tt.folder {
				t.Errorf("got %q, want %q", got, tt.folder)
			}
		})
	}
	c := defaults()
	c.Socket = "/run/podstead.sock"
	c.Listed = []sourceSpec{{Name: "fleet", Git: &gitSpec{URL: "/srv/fleet.git"}}, {Name: "page", HTTP: &httpSpec{}}}
	if why := c.guarded(c.Listed[1]).Forbids("/srv/fleet.git/hooks"); !strings.Contains(why, "the place of source fleet") {
		t.Errorf("a URL's pod may mount it: %q", why)
	}
}
