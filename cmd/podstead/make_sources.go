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

	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
)

// specs are the configured sources as the gatherer takes them.
func (n *node) specs(c config.Config) []sources.Spec {
	var all []sources.Spec
	for _, s := range c.Sources() {
		s.Interval = config.Duration(c.Interval(s))
		all = append(all, sources.Spec{Name: s.Name, Key: keyOf(c, s), New: func() (sources.Source, error) { return n.maker(c).source(s) }})
	}
	return all
}

// members are the configured sources as the merger takes them.
func (n *node) members(c config.Config) []sources.Member {
	var all []sources.Member
	for _, s := range c.Sources() {
		s.Interval = config.Duration(c.Interval(s))
		all = append(all, sources.Member{Name: s.Name, Key: keyOf(c, s), ObjectsFrom: s.ObjectsFrom})
	}
	return all
}

// keyOf stands for all the settings of a source. What its pods may read of other
// sources is the merger's, and ends nothing.
func keyOf(c config.Config, s config.Source) string {
	s.ObjectsFrom = nil
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode(s) // plain data; header values show as hidden
	if guarded(c, s) != nil {
		_ = json.NewEncoder(sum).Encode(nodePaths(c))
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
	cfg  config.Config
	node manifests.Node
	log  *slog.Logger
}

func (n *node) maker(c config.Config) maker {
	return maker{cfg: c, node: manifests.Node{Name: n.id.Name, Labels: nodeLabels(n.id.Name, c.NodeLabels)}, log: n.log}
}

// trySources makes every source and drops it: that touches nothing, and finds
// what only a source itself can find wrong with its settings.
func trySources(c config.Config) error {
	const name = "node"
	try := maker{cfg: c, node: manifests.Node{Name: name, Labels: nodeLabels(name, c.NodeLabels)}, log: slog.New(slog.DiscardHandler)}
	var bad []error
	for _, s := range c.Sources() {
		_, err := try.source(s)
		bad = append(bad, err)
	}
	return errors.Join(bad...)
}

// source makes one source, which does nothing yet.
func (m maker) source(s config.Source) (sources.Source, error) {
	dir := filepath.Join(m.cfg.RootDir, "sources", s.Name)
	kinds, warn := sources.UnsupportedKinds(s.UnsupportedKinds), s.Validation == "warn"
	switch {
	case s.File != nil:
		return sources.NewFile(sources.FileConfig{
			Name: s.Name, Path: s.File.Path, Rescan: time.Duration(s.Interval), Node: m.node, Dir: dir,
			UnsupportedKinds: kinds, Warn: warn, Policy: sources.Policy(s.Policy), NodePaths: guarded(m.cfg, s), Logger: m.log,
		})
	case s.HTTP != nil:
		return sources.NewHTTP(m.http(s, dir))
	case s.Git != nil:
		return sources.NewGit(m.git(s, dir))
	}
	return nil, fmt.Errorf("source %s reads nothing", s.Name)
}

func (m maker) http(s config.Source, dir string) sources.HTTPConfig {
	h := s.HTTP
	cfg := sources.HTTPConfig{
		Name: s.Name, URL: h.URL, Headers: http.Header{}, Interval: time.Duration(s.Interval),
		Timeout: time.Duration(h.Timeout), IdleTimeout: time.Duration(h.IdleTimeout), MaxBytes: int64(h.MaxBodySize),
		CAFile: h.CAFile, CertFile: h.ClientCertFile, KeyFile: h.ClientKeyFile, TokenFile: h.BearerTokenFile, Proxy: h.Proxy,
		UserAgent: "podstead/" + thisVersion().Version, Node: m.node, Dir: dir,
		UnsupportedKinds: sources.UnsupportedKinds(s.UnsupportedKinds), Warn: s.Validation == "warn",
		Policy: sources.Policy(s.Policy), NodePaths: guarded(m.cfg, s), MaxRemoval: s.MaxRemoval, Logger: m.log,
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

func (m maker) git(s config.Source, dir string) sources.GitConfig {
	g := s.Git
	return sources.GitConfig{
		Name: s.Name, URL: g.URL, Ref: g.Ref, Paths: g.Paths, Include: g.Include, Exclude: g.Exclude,
		Interval: time.Duration(s.Interval), Timeout: time.Duration(g.Timeout), MaxPack: int64(g.MaxPackSize),
		Username: g.Username, PasswordFile: g.PasswordFile, CAFile: g.CAFile,
		SSHKeyFile: g.SSHKeyFile, SSHKeyPassphraseFile: g.SSHKeyPassphraseFile, KnownHostsFile: g.KnownHostsFile,
		Node: m.node, Dir: dir,
		UnsupportedKinds: sources.UnsupportedKinds(s.UnsupportedKinds), Warn: s.Validation == "warn",
		Policy: sources.Policy(s.Policy), NodePaths: guarded(m.cfg, s), MaxRemoval: s.MaxRemoval, Logger: m.log,
	}
}
