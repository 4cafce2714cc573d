package sources

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func kernelLooker() looker { return looker{limit: 1 << 20, writers: writers} }

func noStamp(stamp) bool { return false }

// A writer that rewrites a file in place as fast as it can is never disturbed,
// and never read half way: what counts as whole is one of its versions.
func TestLookNeverSeesHalf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lamp.yaml")
	versions := [][]byte{[]byte(strings.Repeat("a", 300_000)), []byte(strings.Repeat("b", 200_000))}
	if err := os.WriteFile(path, versions[0], 0o644); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		for i := range 1000 {
			if err := os.WriteFile(path, versions[i%2], 0o644); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	counts := map[outcome]int{}
	for {
		select {
		case err := <-written:
			if err != nil {
				t.Errorf("the writer was disturbed: %v", err)
			}
			if seen := kernelLooker().look(path, noStamp); seen.outcome != whole {
				t.Errorf("outcome %d at the end", seen.outcome)
			}
			return
		default:
		}
		seen := kernelLooker().look(path, noStamp)
		counts[seen.outcome]++
		if seen.outcome == whole && !bytes.Equal(seen.data, versions[0]) && !bytes.Equal(seen.data, versions[1]) {
			t.Fatalf("half a file of %d bytes after %v", len(seen.data), counts)
		}
	}
}

func TestLookOutcomes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(os.WriteFile(at("file"), []byte("x"), 0o644))
	ok(os.WriteFile(at("large"), bytes.Repeat([]byte("x"), 100), 0o644))
	ok(os.Mkdir(at("folder"), 0o755))
	ok(mkfifo(at("pipe")))
	for name, target := range map[string]string{
		"link": "file", "folderLink": "folder", "deep": "folder/file", "dead": "none", "loop": "loop",
		"out": "/dev/null", "kernel": "/proc/version", "absolute": at("file"), "up": "../" + filepath.Base(dir) + "/file",
	} {
		ok(os.Symlink(target, at(name)))
	}
	tests := []struct {
		name    string
		outcome outcome
		through string
	}{
		{"file", whole, ""},
		{"large", refused, ""},
		{"none", missing, ""},
		{"file/below", missing, ""},
		{"folder", missing, ""},
		{"pipe", refused, ""},
		{"link", whole, "file"},
		{"absolute", whole, "file"},
		{"up", whole, ""},
		{"folderLink", refused, "folder"},
		{"deep", dangling, "folder"},
		{"dead", dangling, "none"},
		{"loop", refused, "loop"},
		{"out", refused, ""},
		{"kernel", whole, ""}, // of size 0: nothing is read, for some would keep the reader waiting
	}
	l := looker{limit: 99, writers: writers}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seen := l.look(at(tt.name), noStamp)
			if seen.outcome != tt.outcome || seen.through != tt.through {
				t.Errorf("outcome %d through %q err %v, want %d through %q", seen.outcome, seen.through, seen.err, tt.outcome, tt.through)
			}
		})
	}
}
