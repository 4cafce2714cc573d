//go:build e2e

package release

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Whoever builds the commit, wherever, gets what was released. In the suite that is
// shown for one architecture.
func TestTheSameCommitGivesTheSameBytes(t *testing.T) {
	clone := filepath.Join(t.TempDir(), "another", "place")
	git(t, "clone", "-q", "--no-local", source, clone)
	again := arches[:1]
	if os.Getenv("PODSTEAD_RELEASE_ARCHES") != "" {
		again = arches
	}
	cmd := exec.Command(filepath.Join(clone, "hack/release.sh"), again...)
	cmd.Env = append(os.Environ(), "TZ=Asia/Kolkata", "GOFLAGS=-buildvcs=true", "VERSION="+version(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first, second := sums(t, dist), sums(t, filepath.Join(clone, "dist"))
	if len(second) != 2*len(again) {
		t.Errorf("%d files are summed: %v", len(second), second)
	}
	for name, sum := range second {
		if first[name] != sum {
			t.Errorf("%s differs", name)
		}
	}
}

// when the commit was made.
func when(t *testing.T) int64 {
	t.Helper()
	seconds, err := strconv.ParseInt(git(t, "log", "-1", "--format=%ct"), 10, 64)
	must(t, err)
	return seconds
}

// sums are those of SHA256SUMS by file, each checked.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	must(t, err)
	told := map[string]string{}
	for line := range strings.Lines(string(list)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if have := sha256.Sum256(data); hex.EncodeToString(have[:]) != sum {
			t.Errorf("the sum of %s is another", name)
		}
		told[name] = sum
	}
	return told
}

func TestAnArchiveHoldsWhatIsInstalled(t *testing.T) {
	unit, err := os.ReadFile(filepath.Join(source, "packaging/podstead.service"))
	must(t, err)
	for _, arch := range arches {
		var held []string
		for _, e := range archive(t, arch) {
			held = append(held, e.FileInfo().Mode().String()+" "+e.Name)
			if e.Uid != 0 || e.Gid != 0 || e.Uname != "" || e.ModTime.Unix() != when(t) {
				t.Errorf("%s: %s is of %d:%d %q, %s", arch, e.Name, e.Uid, e.Gid, e.Uname, e.ModTime)
			}
			if strings.HasSuffix(e.Name, ".service") && !bytes.Equal(e.data, unit) {
				t.Errorf("%s: its unit is another", arch)
			}
		}
		top := "podstead-" + version(t) + "-linux-" + arch + "/"
		want := []string{"drwxr-xr-x " + top, "-rw-r--r-- " + top + "LICENSE", "-rw-r--r-- " + top + "README.md", "-rwxr-xr-x " + top + "podstead", "-rw-r--r-- " + top + "podstead.service"}
		if !slices.Equal(held, want) {
			t.Errorf("%s holds\n%s", arch, strings.Join(held, "\n"))
		}
	}
}

func TestProgramsAreStatic(t *testing.T) {
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "armv7": elf.EM_ARM, "riscv64": elf.EM_RISCV}
	for _, arch := range arches {
		file, err := elf.Open(program(t, arch))
		must(t, err)
		if file.Machine != machines[arch] {
			t.Errorf("%s is for %s", arch, file.Machine)
		}
		for _, p := range file.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("%s has a %s", arch, p.Type)
			}
		}
		must(t, file.Close())
	}
}

// bill is what is read of an SBOM.
type bill struct {
	BOMFormat    string
	SerialNumber string
	Metadata     struct {
		Timestamp time.Time
		Tools     []struct {
			Name, Version string
			Hashes        []any
		}
		Component struct{ Name, Version string }
	}
	Components []struct{ Name, Version string }
}

// An SBOM names what is in the program, and nothing that another build would not.
func TestEachProgramHasItsBillOfMaterials(t *testing.T) {
	for _, arch := range arches {
		raw, err := os.ReadFile(filepath.Join(dist, "podstead-"+version(t)+"-linux-"+arch+".cdx.json"))
		must(t, err)
		var b bill
		must(t, json.Unmarshal(raw, &b))
		if b.BOMFormat != "CycloneDX" || b.SerialNumber != "" || b.Metadata.Timestamp.Unix() != when(t) {
			t.Errorf("%s: %s with serial %q of %s", arch, b.BOMFormat, b.SerialNumber, b.Metadata.Timestamp)
		}
		if tools := b.Metadata.Tools; len(tools) != 1 || tools[0].Version != "v1.10.0" || len(tools[0].Hashes) > 0 {
			t.Errorf("%s: written by %+v", arch, tools)
		}
		if c := b.Metadata.Component; c.Name != "github.com/podstead/podstead" || c.Version != version(t) {
			t.Errorf("%s: it is of %+v", arch, c)
		}
		for _, name := range []string{"std", "k8s.io/api", "github.com/docker/docker"} {
			if !slices.ContainsFunc(b.Components, func(c struct{ Name, Version string }) bool { return c.Name == name && c.Version != "" }) {
				t.Errorf("%s: %s is not among its %d components", arch, name, len(b.Components))
			}
		}
	}
}

func TestTheUnitIsOneForSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podstead.service")
	unit, err := os.ReadFile(filepath.Join(source, "packaging/podstead.service"))
	must(t, err)
	program := program(t, arches[0]) // it must be there
	must(t, os.WriteFile(path, bytes.ReplaceAll(unit, []byte("/usr/local/bin/podstead"), []byte(program)), 0o644))
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput(); err != nil || strings.Contains(string(out), "podstead.service:") {
		t.Errorf("%v\n%s", err, out)
	}
}
