// Package gitrepo reads manifests out of a git repository on a server. A URL, a
// ref and a scope come in; a commit and the bytes of its files go out. Nothing is
// checked out: files are read from the commit's tree, so that no link can lead
// out of it and no half-updated state exists.
//
// What is fetched is one commit without its history, into a folder that is only
// a cache: every object is checked against its name as it is read, and when
// anything is wrong the folder is fetched anew and swapped in.
//
// The wire protocol is spoken here, version 2 first: a ref that has not changed
// then costs one small request however many refs the server has, and file
// contents out of scope need not be sent at all. The pack format is go-git's.
//
// One goroutine uses a Repo, its caller's. No call leaves a goroutine, a
// connection or a process behind.
package gitrepo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Config is what a Repo needs.
type Config struct {
	// URL is https://, http://, ssh://, user@host:path, file:// or an absolute
	// path. It may name a user, never a password.
	URL string
	// Dir is the folder of the cache. It is made when needed, and nothing else
	// may be kept in it.
	Dir string

	// Username and PasswordFile are for https; the file holds a password or a
	// token and is read anew for each visit. They are sent to the host of URL only.
	Username     string
	PasswordFile string
	// CAFile holds the certificates that an https server's is checked against,
	// instead of the system's.
	CAFile string

	// KeyFile is the private key for ssh, PassphraseFile what it is encrypted with.
	KeyFile        string
	PassphraseFile string
	// KnownHostsFile names the ssh servers that are trusted; "" for
	// /etc/podstead/known_hosts or else the user's and the system's. It is never
	// written.
	KnownHostsFile string

	Limits Limits
	// ResolveTimeout bounds asking for a ref; 0 for DefaultResolveTimeout.
	ResolveTimeout time.Duration
	// FetchTimeout bounds fetching and reading; 0 for DefaultFetchTimeout.
	FetchTimeout time.Duration
	// IdleTimeout is how long a server may send nothing; 0 for DefaultIdleTimeout.
	IdleTimeout time.Duration
}

// The defaults of the time-outs.
const (
	DefaultResolveTimeout = 30 * time.Second
	DefaultFetchTimeout   = 2 * time.Minute
	DefaultIdleTimeout    = 10 * time.Second
)

// Limits bound what is taken from a server.
type Limits struct {
	Pack  int64 // bytes of one fetch
	File  int64 // bytes of one file in scope
	Total int64 // bytes of all files in scope
	Files int   // files in scope
}

// DefaultLimits are the limits where none are configured.
func DefaultLimits() Limits {
	return Limits{Pack: 512 << 20, File: 1 << 20, Total: 8 << 20, Files: 2000}
}

// Repo is a repository on a server, and the cache of what was fetched last.
type Repo struct {
	cfg   Config
	at    address
	store store
	// hello is what a server said that need not be asked again; nil when unknown.
	hello    *greeting
	sessions tls.ClientSessionCache
	key      opened
	// whole is true of a server that leaves contents out and does not give them
	// later: it is asked for all at once.
	whole bool
	// over is the commit that was too large to be fetched: it is not fetched again
	// for a while. hopeless is a search for a commit that found nothing: it is not
	// done again before something changed.
	over     excess
	hopeless search
}

// New returns a Repo that has touched nothing yet. An error lists all that is
// wrong with the configuration.
func New(cfg Config) (*Repo, error) {
	at, err := parseURL(cfg.URL)
	errs := []error{err}
	if err == nil {
		errs = append(errs, cfg.check(&at)...)
	}
	if cfg.Dir == "" {
		errs = append(errs, errors.New("a folder for what is fetched is needed"))
	}
	for name, d := range map[string]time.Duration{"resolve": cfg.ResolveTimeout, "fetch": cfg.FetchTimeout, "idle": cfg.IdleTimeout} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s time-out %v is negative", name, d))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	cfg.fill()
	return &Repo{
		cfg: cfg, at: at, store: store{dir: cfg.Dir, limits: cfg.Limits},
		sessions: tls.NewLRUClientSessionCache(4),
	}, nil
}

func (c *Config) fill() {
	if c.Limits == (Limits{}) {
		c.Limits = DefaultLimits()
	}
	for d, value := range map[*time.Duration]time.Duration{
		&c.ResolveTimeout: DefaultResolveTimeout, &c.FetchTimeout: DefaultFetchTimeout, &c.IdleTimeout: DefaultIdleTimeout,
	} {
		if *d == 0 {
			*d = value
		}
	}
}

// Shown is the repository's URL without user and password.
func (r *Repo) Shown() string { return r.at.shown }

// Visit is one look at the server: what is asked in it shares a connection.
type Visit struct {
	repo *Repo
	link link
	said *greeting // by this link
}

// Visit begins a look. Nothing is sent before something is asked, and the caller
// must Close it.
func (r *Repo) Visit() *Visit { return &Visit{repo: r} }

// Close ends the conversation and all that belongs to it.
func (v *Visit) Close() {
	if v.link != nil {
		v.link.close()
	}
	v.link, v.said = nil, nil
}

// limited runs f with a time-out that says what took too long.
func limited(ctx context.Context, d time.Duration, what string, f func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	err := f(inner)
	if err == nil {
		return nil
	}
	if outer := ctx.Err(); outer != nil {
		return fmt.Errorf("%s: %w", what, outer)
	}
	if inner.Err() != nil {
		return fmt.Errorf("%s: not done within %v", what, d)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// errSilent is the end of a server that sends nothing.
var errSilent = errors.New("the server sends nothing")

// remoteError is what a server says that it won't do, as it says it.
type remoteError struct{ text string }

func (e *remoteError) Error() string { return "the server says: " + e.text }

// bare is an error without the path that its context names anyway.
func bare(err error) error {
	var at *fs.PathError
	var move *os.LinkError
	switch {
	case errors.As(err, &at):
		return fmt.Errorf("%s: %w", at.Op, at.Err)
	case errors.As(err, &move):
		return fmt.Errorf("%s: %w", move.Op, move.Err)
	}
	return err
}
