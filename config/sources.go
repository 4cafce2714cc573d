package config

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Sources are all configured sources in their order of precedence: those of
// flags (file, file-2, …, http, git), then the document's list.
func (c Config) Sources() []Source {
	var all []Source
	for i, path := range c.Manifests {
		name := "file"
		if i > 0 {
			name = fmt.Sprintf("file-%d", i+1)
		}
		all = append(all, Source{Name: name, File: &File{Path: path}})
	}
	if c.HTTP.URL != "" {
		all = append(all, Source{Name: "http", HTTP: &c.HTTP})
	}
	if c.Git.URL != "" {
		all = append(all, Source{Name: "git", Interval: Duration(c.GitPollInterval), Git: &c.Git})
	}
	return append(all, c.Listed...)
}

// keyOf is the setting behind a field of a source that flags made.
func keyOf(field string) string {
	return map[string]string{
		"file.path":                "pod-manifest-path",
		"http.url":                 "manifest-url",
		"http.headers":             "manifest-url-header",
		"git.url":                  "git-url",
		"git.ref":                  "git-ref",
		"git.paths":                "git-path",
		"git.username":             "git-username",
		"git.passwordFile":         "git-password-file",
		"git.sshKeyFile":           "git-ssh-key",
		"git.sshKeyPassphraseFile": "git-ssh-key-passphrase-file",
		"git.knownHostsFile":       "git-known-hosts",
		"git.caFile":               "git-ca-file",
		"interval":                 "git-poll-interval",
	}[field]
}

// checkSources returns every fault of the sources: the document's with their
// places, those that flags made with the flags' names.
func (c Config) checkSources(written *decoder) error {
	var f faults
	names := map[string]bool{}
	all := c.Sources()
	for _, s := range all {
		names[s.Name] = true
	}
	fromFlags, seen := len(all)-len(c.Listed), map[string]bool{}
	for i, s := range all {
		tell := func(field, format string, args ...any) { f.add(c.nameOf(cmp.Or(keyOf(field), field)), format, args...) }
		if i >= fromFlags {
			at := fmt.Sprintf("sources[%d]", i-fromFlags)
			tell = func(field, format string, args ...any) { written.fault(join(at, field), format, args...) }
		}
		if seen[s.Name] && s.Name != "" {
			tell("name", "%q is taken by an earlier source (those of flags are called file, file-2, http and git)", s.Name)
		}
		seen[s.Name] = true
		s.check(tell, names)
	}
	c.checkGitFlags(&f)
	return f.err()
}

// checkGitFlags refuses settings of a repository that is not named.
func (c Config) checkGitFlags(f *faults) {
	set := c.Git.Ref != "" || c.Git.Username != "" || c.Git.PasswordFile != "" || c.Git.SSHKeyFile != "" ||
		c.Git.SSHKeyPassphraseFile != "" || c.Git.KnownHostsFile != "" || c.Git.CAFile != "" || len(c.Git.Paths) > 0
	f.check(c.Git.URL != "" || !set, c.nameOf("git-url"), "is missing, and other --git flags are given")
	f.check(c.HTTP.URL != "" || len(c.HTTP.Headers) == 0, c.nameOf("manifest-url"), "is missing, and headers for it are given")
}

// Place says what the source reads, for people: without credentials.
func (s Source) Place() string {
	switch {
	case s.File != nil:
		return s.File.Path
	case s.HTTP != nil:
		return withoutCredentials(s.HTTP.URL)
	case s.Git != nil:
		return withoutCredentials(s.Git.URL)
	}
	return ""
}

// Kind is the word for where the source reads: file, http or git.
func (s Source) Kind() string {
	switch {
	case s.HTTP != nil:
		return "http"
	case s.Git != nil:
		return "git"
	}
	return "file"
}

// withoutCredentials drops user, password, query and fragment of a URL. What is
// no URL (user@host:path) has no password in it.
func withoutCredentials(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return text
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// settle makes the paths of a source absolute.
func (s *Source) settle() {
	var paths []*string
	if s.File != nil {
		paths = append(paths, &s.File.Path)
	}
	if h := s.HTTP; h != nil {
		paths = append(paths, &h.BearerTokenFile, &h.CAFile, &h.ClientCertFile, &h.ClientKeyFile)
		if h.BasicAuth != nil {
			paths = append(paths, &h.BasicAuth.PasswordFile)
		}
	}
	if g := s.Git; g != nil {
		paths = append(paths, &g.PasswordFile, &g.SSHKeyFile, &g.SSHKeyPassphraseFile, &g.KnownHostsFile, &g.CAFile)
	}
	for _, path := range paths {
		*path = Absolute(*path)
	}
}

// settle makes the paths of a webhook absolute.
func (w *Webhook) settle() {
	for _, path := range []*string{&w.SecretFile, &w.TokenFile, &w.TLSCertFile, &w.TLSKeyFile} {
		*path = Absolute(*path)
	}
	w.Path = cmp.Or(w.Path, defaultWebhookPath)
}

// Names are the names in order.
func Names(all []Source) []string {
	names := make([]string, 0, len(all))
	for _, s := range all {
		names = append(names, s.Name)
	}
	return slices.Clip(names)
}

// Or is the  Duration as a duration, or the default when it is not set.
func (s Duration) Or(d time.Duration) time.Duration { return cmp.Or(time.Duration(s), d) }

// Interval is how often a source looks by itself.
func (c Config) Interval(s Source) time.Duration {
	switch {
	case s.HTTP != nil:
		return s.Interval.Or(c.HTTPCheckFrequency)
	case s.Git != nil:
		return s.Interval.Or(Defaults().GitPollInterval)
	}
	return s.Interval.Or(c.FileCheckFrequency)
}

// Folder is where on this machine the source reads; "" for elsewhere.
func (s Source) Folder() string {
	switch {
	case s.File != nil:
		return s.File.Path
	case s.Git == nil:
		return ""
	case strings.HasPrefix(s.Git.URL, "/"):
		return s.Git.URL
	}
	u, err := url.Parse(s.Git.URL)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}
