package gitrepo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// FuzzPktLine: what is read can be written, and is then what was read.
func FuzzPktLine(f *testing.F) {
	f.Add([]byte("000eversion 2\n000afetch\n00010002"))
	f.Add([]byte("0008ERR 0000"))
	f.Add([]byte("0004\x30\x30\x30\x35a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out pktWriter
		var read []string
		for in := newPktReader(bytes.NewReader(data)); ; {
			kind, payload, err := in.next()
			if err != nil {
				break
			}
			read = append(read, fmt.Sprint(kind, string(payload)))
			if kind == packetData {
				fmt.Fprintf(&out, "%04x%s", len(payload)+4, payload)
			} else {
				fmt.Fprintf(&out, "%04x", int(kind-packetFlush))
			}
		}
		in := newPktReader(&out)
		for i, want := range read {
			kind, payload, err := in.next()
			if got := fmt.Sprint(kind, string(payload)); err != nil || got != want {
				t.Fatalf("packet %d is %q, then %q, %v", i, want, got, err)
			}
		}
	})
}

// FuzzObject: trees are taken apart without loss, commits give lines that can be
// shown, addresses show no password.
func FuzzObject(f *testing.F) {
	f.Add("100644 a.yaml\x000123456789012345678940000 b\x0001234567890123456789")
	f.Add("tree 0123456789abcdef0123456789abcdef01234567\nauthor A <a@b> 1700000000 +0100\ncommitter A <a@b> 1700000000 +0100\n\nsubject\n\nPodstead-Allow-Removal: yes\n")
	f.Add("https://user:secretword@git.example/org/fleet.git")
	f.Add("user:secretword@git.example:org/fleet.git")
	f.Fuzz(func(t *testing.T, text string) {
		if nodes, err := parseTree([]byte(text)); err == nil {
			var again strings.Builder
			for _, n := range nodes {
				again.WriteString(n.mode + " " + n.name + "\x00" + string(n.hash[:]))
			}
			if again.String() != text {
				t.Fatalf("%q is read as %v", text, nodes)
			}
		}
		if c, err := parseCommit(plumbing.ZeroHash, text); err == nil {
			if c.tree.IsZero() || c.Subject != printable(c.Subject) || c.Author != printable(c.Author) {
				t.Fatalf("%+v", c)
			}
		}
		_, err := parseURL(text)
		if err != nil && strings.Count(text, "secretword") == 1 && strings.Contains(text, ":secretword@") && strings.Contains(err.Error(), "secretword") {
			t.Fatalf("the error of %q shows the password: %v", text, err)
		}
	})
}
