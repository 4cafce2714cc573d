package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
)

// The pause program of every architecture, built by hack/pause.sh from
// pause/pause.c. All of them are a few hundred bytes: the engine's machine
// need not be the agent's.
//
//go:embed pause/bin/pause-*
var pauseBinaries embed.FS

// pause is the image of a sandbox.
type pause struct {
	ref    string // podstead/pause:<hash of the program>
	arch   string
	binary []byte
}

func pauseFor(arch string) (pause, error) {
	binary, err := fs.ReadFile(pauseBinaries, "pause/bin/pause-"+arch)
	if err != nil {
		return pause{}, fmt.Errorf("no pause program for the engine's architecture %q", arch)
	}
	return pause{ref: "podstead/pause:" + digest(binary)[:12], arch: arch, binary: binary}, nil
}

// loadPause gives the engine the image of the sandboxes. It needs no registry.
func (m *Manager) loadPause(ctx context.Context) error {
	f, err := m.facts.get(ctx, m.learnFacts)
	if err != nil {
		return err
	}
	p, err := pauseFor(f.engine.Architecture)
	if err != nil {
		return err
	}
	archive, err := p.archive()
	if err != nil {
		return fmt.Errorf("pack image %q: %w", p.ref, err)
	}
	if err := m.engine.loadImage(ctx, bytes.NewReader(archive)); err != nil {
		return fmt.Errorf("load image %q: %w", p.ref, err)
	}
	m.log.Info("loaded the image of the sandboxes", "image", p.ref)
	return nil
}

// archive writes the image as `docker save` would: the form that engines of
// all versions and with either image store load.
func (p pause) archive() ([]byte, error) {
	layer, err := pack(file{"pause", 0o755, p.binary})
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(p.config(layer))
	if err != nil {
		return nil, err
	}
	configName := digest(config) + ".json"
	manifest, err := json.Marshal([]map[string]any{{
		"Config":   configName,
		"RepoTags": []string{p.ref},
		"Layers":   []string{"layer.tar"},
	}})
	if err != nil {
		return nil, err
	}
	return pack(file{configName, 0o644, config}, file{"layer.tar", 0o644, layer}, file{"manifest.json", 0o644, manifest})
}

func (p pause) config(layer []byte) map[string]any {
	config := map[string]any{
		"architecture": p.arch,
		"os":           "linux",
		"created":      "1970-01-01T00:00:00Z",
		"config":       map[string]any{"Entrypoint": []string{"/pause"}, "StopSignal": "SIGTERM"},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(layer)}},
		"history":      []map[string]any{{"created": "1970-01-01T00:00:00Z", "created_by": "podstead"}},
	}
	if p.arch == "arm" {
		config["variant"] = "v6" // the oldest it runs on; newer ones take it too
	}
	return config
}

type file struct {
	name string
	mode int64
	data []byte
}

// pack writes a tar archive; the same files give the same bytes.
func pack(files ...file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
