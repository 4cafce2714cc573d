//go:build e2e

package main

import (
	"os"
	"slices"
	"testing"

	"github.com/podstead/podstead/test/rig"
)

// program is the podstead under test.
var program string

func TestMain(m *testing.M) { os.Exit(rig.Main(m, &program)) }

// The short form of `make soak`: too short to judge memory by, long enough to see
// a descriptor, a goroutine, a file or a container that every replacement leaves.
func TestShortSoak(t *testing.T) {
	r, err := soak(t.Context(), options{
		podstead: program, replacements: 30, status: 300, looks: 30, docker: rig.Socket, image: "podstead-test/busybox:1",
	})
	if err != nil {
		t.Fatal(err)
	}
	counted := slices.DeleteFunc(measures(), func(m measure) bool { return !m.counted })
	if err := judge(counted, r.Samples); err != nil {
		t.Errorf("%v\n%s", err, r.table())
	}
}
