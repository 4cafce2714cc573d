package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
)

// specs are the configured sources as the gatherer takes them.
func (n *node) specs(c Config) []sources.Spec {
	var all []sources.Spec
	for _, s := range c.sources() {
		s.Interval = span(c.intervalOf(s))
		all = append(all, sources.Spec{Name: s.Name, Key: c.keyOf(s), New: func() (sources.Source, error) { return n.maker(c).source(s) }})
	}
	return all
}

// members are the configured sources as the merger takes them.
func (n *node) members(c Config) []sources.Member {
	var all []sources.Member
	for _, s := range c.sources() {
		s.Interval = span(c.intervalOf(s))
		all = append(all, sources.Member{Name: s.Name, Key: c.keyOf(s), ObjectsFrom: s.ObjectsFrom})
	}
	return all
}

// intervalOf is how often a source looks by itself.
func (c Config) intervalOf(s sourceSpec) time.Duration {
	switch {
	case s.HTTP != nil:
		return s.Interval.orDefault(c.HTTPCheckFrequency)
	case s.Git != nil:
		return s.Interval.orDefault(defaults().GitPollInterval)
	}
	return s.Interval.orDefault(c.FileCheckFrequency)
}

// keyOf stands for all the settings of a source. What its pods may read of other
// sources is the merger's, and ends nothing.
func (c Config) keyOf(s sourceSpec) string {
	s.ObjectsFrom = nil
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode(s) // plain data; header values show as hidden
	if c.guarded(s) != nil {
		_ = json.NewEncoder(sum).Encode(c.nodePaths())
	}
	if s.HTTP != nil {
		for _, name := range slices.Sorted(maps.Keys(s.HTTP.Headers)) {
			for _, value := range s.HTTP.Headers[name] {
				_, _ = io.WriteString(sum, name+"\x00"+string(value)+"\x00")
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// maker has what sources need besides their settings.
type maker struct {
	cfg  Config
	node manifests.Node
	log  *slog.Logger
}

func (n *node) maker(c Config) maker {
	return maker{cfg: c, node: manifests.Node{Name: n.id.Name, Labels: nodeLabels(n.id.Name, c.NodeLabels)}, log: n.log}
}

// trySources makes every source and drops it: that touches nothing, and finds
// what only a source itself can find wrong with its settings.
func (c Config) trySources() error {
	const name = "node"
	try := maker{cfg: c, node: manifests.Node{Name: name, Labels: nodeLabels(name, c.NodeLabels)}, log: slog.New(slog.DiscardHandler)}
	var bad []error
	for _, s := range c.sources() {
		_, err := try.source(s)
		bad = append(bad, err)
	}
	return errors.Join(bad...)
}

// source makes one source, which does nothing yet.
func (m maker) source(s sourceSpec) (sources.Source, error) {
	dir := filepath.Join(m.cfg.RootDir, "sources", s.Name)
	kinds, warn := sources.UnsupportedKinds(s.UnsupportedKinds), s.Validation == "warn"
	switch {
	case s.File != nil:
		return sources.NewFile(sources.FileConfig{
			Name: s.Name, Path: s.File.Path, Rescan: time.Duration(s.Interval), Node: m.node, Dir: dir,
			UnsupportedKinds: kinds, Warn: warn, Policy: sources.Policy(s.Policy), NodePaths: m.cfg.guarded(s), Logger: m.log,
		})
	case s.HTTP != nil:
		return sources.NewHTTP(m.http(s, dir))
	case s.Git != nil:
		return sources.NewGit(m.git(s, dir))
	}
	return nil, fmt.Errorf("source %s reads nothing", s.Name)
}

func (m maker) http(s sourceSpec, dir string) sources.HTTPConfig {
	h := s.HTTP
	cfg := sources.HTTPConfig{
		Name: s.Name, URL: h.URL, Headers: http.Header{}, Interval: time.Duration(s.Interval),
		Timeout: time.Duration(h.Timeout), IdleTimeout: time.Duration(h.IdleTimeout), MaxBytes: int64(h.MaxBodySize),
		CAFile: h.CAFile, CertFile: h.ClientCertFile, KeyFile: h.ClientKeyFile, TokenFile: h.BearerTokenFile, Proxy: h.Proxy,
		UserAgent: "podstead/" + thisVersion().Version, Node: m.node, Dir: dir,
		UnsupportedKinds: sources.UnsupportedKinds(s.UnsupportedKinds), Warn: s.Validation == "warn",
		Policy: sources.Policy(s.Policy), NodePaths: m.cfg.guarded(s), MaxRemoval: s.MaxRemoval, Logger: m.log,
	}
	if h.BasicAuth != nil {
		cfg.User, cfg.PasswordFile = h.BasicAuth.Username, h.BasicAuth.PasswordFile
	}
	for name, values := range h.Headers {
		for _, value := range values {
			cfg.Headers.Add(name, string(value))
		}
	}
	return cfg
}

func (m maker) git(s sourceSpec, dir string) sources.GitConfig {
	g := s.Git
	return sources.GitConfig{
		Name: s.Name, URL: g.URL, Ref: g.Ref, Paths: g.Paths, Include: g.Include, Exclude: g.Exclude,
		Interval: time.Duration(s.Interval), Timeout: time.Duration(g.Timeout), MaxPack: int64(g.MaxPackSize),
		Username: g.Username, PasswordFile: g.PasswordFile, CAFile: g.CAFile,
		SSHKeyFile: g.SSHKeyFile, SSHKeyPassphraseFile: g.SSHKeyPassphraseFile, KnownHostsFile: g.KnownHostsFile,
		Node: m.node, Dir: dir,
		UnsupportedKinds: sources.UnsupportedKinds(s.UnsupportedKinds), Warn: s.Validation == "warn",
		Policy: sources.Policy(s.Policy), NodePaths: m.cfg.guarded(s), MaxRemoval: s.MaxRemoval, Logger: m.log,
	}
}
