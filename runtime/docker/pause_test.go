package docker

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// B155: the program is that of the engine's machine.
func TestPauseOfEveryArchitecture(t *testing.T) {
	for arch, want := range map[string]elf.Machine{
		"amd64":   elf.EM_X86_64,
		"arm64":   elf.EM_AARCH64,
		"arm":     elf.EM_ARM,
		"riscv64": elf.EM_RISCV,
	} {
		p, err := pauseFor(arch)
		if err != nil {
			t.Fatal(err)
		}
		program, err := elf.NewFile(bytes.NewReader(p.binary))
		if err != nil {
			t.Fatal(err)
		}
		if program.Machine != want || program.Type != elf.ET_EXEC || len(p.binary) > 4096 {
			t.Errorf("%s: %v, %v, %d bytes", arch, program.Machine, program.Type, len(p.binary))
		}
		for _, part := range program.Progs {
			if part.Type == elf.PT_INTERP {
				t.Errorf("%s: needs a loader", arch)
			}
		}
	}
	if _, err := pauseFor("s390x"); err == nil || !strings.Contains(err.Error(), "s390x") {
		t.Errorf("got %v", err)
	}
}

func TestPauseArchive(t *testing.T) {
	p, err := pauseFor("arm")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := p.archive()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := p.archive(); !bytes.Equal(archive, again) {
		t.Error("the same program gives two archives")
	}
	files := unpack(t, archive)
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	must(t, json.Unmarshal(files["manifest.json"], &manifest))
	var config struct {
		Architecture, Variant string
		Config                struct{ Entrypoint []string }
		RootFS                struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	must(t, json.Unmarshal(files[manifest[0].Config], &config))
	layer := files[manifest[0].Layers[0]]
	if config.RootFS.DiffIDs[0] != "sha256:"+digest(layer) || manifest[0].Config != digest(files[manifest[0].Config])+".json" {
		t.Error("digests do not fit")
	}
	if config.Architecture != "arm" || config.Variant != "v6" || config.Config.Entrypoint[0] != "/pause" || manifest[0].RepoTags[0] != p.ref {
		t.Errorf("got %+v, %+v", manifest, config)
	}
	if got := unpack(t, layer)["pause"]; !bytes.Equal(got, p.binary) {
		t.Error("the layer does not hold the program")
	}
}

func unpack(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must(t, err)
		files[header.Name], err = io.ReadAll(r)
		must(t, err)
	}
}

// The committed binaries are what the source gives, as far as the compilers
// they were built with are installed.
func TestPauseIsReproducible(t *testing.T) {
	out, err := exec.Command("../../hack/pause.sh", "check").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		arch, result, _ := strings.Cut(strings.TrimSpace(line), ": ")
		t.Run(arch, func(t *testing.T) {
			if strings.HasPrefix(result, "skip") {
				t.Skip(result)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
