package sources

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources/gitrepo"
)

// gitSettings is a configuration that was checked, for this node.
type gitSettings struct {
	GitConfig
	repo    *gitrepo.Repo
	ref     string // filled in for this node
	scope   gitrepo.Scope
	unset   error // why the ref and the paths can't be filled in; nil if they can
	removal int
}

// check fills in defaults, or lists all that is wrong.
func (cfg GitConfig) check() (*gitSettings, error) {
	s := &gitSettings{GitConfig: cfg}
	var errs []error
	if cfg.Name == "" {
		errs = append(errs, errors.New("a name is needed"))
	}
	errs = append(errs, s.checkBounds()...)
	var err error
	s.repo, err = gitrepo.New(s.repository())
	errs = append(errs, err)
	s.removal, err = parseMaxRemoval(cfg.MaxRemoval)
	errs = append(errs, err)
	errs = append(errs, s.UnsupportedKinds.check(), s.Policy.check())
	errs = append(errs, cfg.checkScope()...)
	s.UnsupportedKinds = cmp.Or(s.UnsupportedKinds, UnsupportedWarn)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("configure git source %s: %w", cfg.Name, err)
	}
	s.fillIn()
	return s, nil
}

func (s *gitSettings) checkBounds() (errs []error) {
	if s.Interval < 0 {
		errs = append(errs, fmt.Errorf("interval %v is negative", s.Interval))
	}
	if s.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout %v is negative", s.Timeout))
	}
	if s.MaxPack < 0 {
		errs = append(errs, fmt.Errorf("pack size of %d bytes is negative", s.MaxPack))
	}
	s.Interval = orDefault(s.Interval, DefaultGitInterval)
	s.Timeout = orDefault(s.Timeout, DefaultGitTimeout)
	s.MaxPack = orDefault(s.MaxPack, DefaultGitPack)
	if s.Limits == (manifests.Limits{}) {
		s.Limits = manifests.DefaultLimits()
	}
	return errs
}

func (s *gitSettings) repository() gitrepo.Config {
	limits := gitrepo.DefaultLimits()
	limits.Pack, limits.File, limits.Total = s.MaxPack, s.Limits.Bytes, int64(defaultSetLimits().bytes)
	dir := ""
	if s.Dir != "" {
		dir = filepath.Join(s.Dir, "git")
	}
	return gitrepo.Config{
		URL: s.URL, Dir: dir,
		Username: s.Username, PasswordFile: s.PasswordFile, CAFile: s.CAFile,
		KeyFile: s.SSHKeyFile, PassphraseFile: s.SSHKeyPassphraseFile, KnownHostsFile: s.KnownHostsFile,
		Limits: limits, FetchTimeout: s.Timeout, ResolveTimeout: min(s.Timeout, gitrepo.DefaultResolveTimeout),
	}
}

func (cfg GitConfig) checkScope() (errs []error) {
	for _, text := range append([]string{cfg.Ref}, cfg.Paths...) {
		errs = append(errs, checkVariables(text))
	}
	errs = append(errs, gitrepo.CheckRef(variable().ReplaceAllString(cfg.Ref, "x")))
	for _, p := range cfg.Paths {
		errs = append(errs, gitrepo.CheckPath(p))
	}
	for _, pattern := range append(cfg.Include, cfg.Exclude...) {
		errs = append(errs, gitrepo.CheckGlob(pattern))
	}
	return errs
}

// fillIn puts this node into the ref and the paths.
func (s *gitSettings) fillIn() {
	var errs []error
	expand := func(text string) string {
		out, err := forNode(text, s.Node)
		errs = append(errs, err)
		return out
	}
	s.ref = expand(s.Ref)
	s.scope = gitrepo.Scope{Include: s.Include, Exclude: s.Exclude, Keep: isManifestName}
	for _, p := range s.Paths {
		s.scope.Paths = append(s.scope.Paths, expand(p))
	}
	if len(s.scope.Paths) == 0 {
		s.scope.Paths = []string{"."}
	}
	s.unset = errors.Join(errs...)
}

// shown is the place for people: what is read, of what, from where.
func (s *gitSettings) shown() string {
	ref := s.ref
	if ref == "" {
		ref = "HEAD"
	}
	shown := s.repo.Shown() + "@" + ref
	if len(s.Paths) > 0 {
		shown += ":" + strings.Join(s.scope.Paths, ",")
	}
	return shown
}

// question names the question that a commit is the answer of: the same commit must
// be read again for another one.
func (s *gitSettings) question() string {
	all, err := json.Marshal([]any{s.repo.Shown(), s.ref, s.scope.Paths, s.Include, s.Exclude})
	if err != nil {
		return "" // strings always can
	}
	return digest(sha256.Sum256(all)).full()
}
