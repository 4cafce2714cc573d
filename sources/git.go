package sources

import (
	"context"
	"log/slog"
	"time"

	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources/gitrepo"
)

// The defaults of a git source.
const (
	// DefaultGitInterval is how often the server is asked whether the ref has moved.
	DefaultGitInterval = time.Minute
	// DefaultGitTimeout bounds one look, the fetch included.
	DefaultGitTimeout = gitrepo.DefaultFetchTimeout
	// DefaultGitPack bounds what one fetch brings.
	DefaultGitPack = 512 << 20
)

// GitConfig is what a git source needs. What it names files for is read from them
// at each look, so that a renewed token or key is used at once.
type GitConfig struct {
	// Name is unique among the sources.
	Name string
	// URL of the repository: https, ssh, user@host:path, file or an absolute path;
	// without a password.
	URL string
	// Ref is a branch, a tag (a branch of the same name comes first), a full name
	// like refs/pull/7/head, or the 40 hex digits of a commit; "" is the server's
	// HEAD, asked each time.
	Ref string
	// Paths are folders, read with all beneath them, or single files; none for the
	// whole commit. In Ref and Paths $(NODE_NAME) and $(NODE_LABEL:key) are filled in.
	Paths []string
	// Include and Exclude are globs for the path within the folder of Paths: *, ?
	// and [] within a name, ** for any folders; without a slash for the file's name.
	Include, Exclude []string
	// Interval is the time between two looks, give or take a tenth; 0 for
	// DefaultGitInterval. After errors it is the back-off's.
	Interval time.Duration
	// Timeout bounds one look; 0 for DefaultGitTimeout.
	Timeout time.Duration
	// MaxPack bounds what one fetch brings; 0 for DefaultGitPack.
	MaxPack int64

	// Username and PasswordFile are for https, and sent to the URL's host only.
	Username, PasswordFile string
	// CAFile holds the certificates to trust in place of the system's.
	CAFile string
	// SSHKeyFile is the private key, SSHKeyPassphraseFile what opens it.
	SSHKeyFile, SSHKeyPassphraseFile string
	// KnownHostsFile holds the host keys to accept; "" for /etc/podstead/known_hosts,
	// or else the user's and the system's.
	KnownHostsFile string

	Node manifests.Node
	// Dir keeps the last good set and what was fetched: root-dir/sources/<name>.
	Dir string
	// Limits bound one file; zero for manifests.DefaultLimits.
	Limits manifests.Limits
	// UnsupportedKinds is UnsupportedWarn when empty.
	UnsupportedKinds UnsupportedKinds
	// Warn makes unknown fields warnings instead of faults.
	Warn bool
	// Policy is what pods may ask for; "" for PolicyEdge.
	Policy Policy
	// NodePaths are those that no pod may mount; nil for none.
	NodePaths *NodePaths
	// MaxRemoval is how much of the set may vanish at once without being asked
	// for, as a percentage: "50%" when empty, "100%" for any.
	MaxRemoval string
	Logger     *slog.Logger
}

// Git is a Source that follows a ref of a repository.
//
// The commit is what fails as a whole, as this node sees it: one bad manifest, a
// link or a submodule in a path, a path that the commit does not have, and all of
// it is held back. A path that is there without manifests is an empty set.
type Git struct {
	*polled
}

// NewGit returns a git source that does nothing until Run. An error lists all
// that is wrong with the configuration; files that it names need not exist yet.
func NewGit(cfg GitConfig) (*Git, error) {
	settings, err := cfg.check()
	if err != nil {
		return nil, err
	}
	log := cfg.Logger.With("source", cfg.Name)
	shown := settings.shown()
	return &Git{newPolled(polledConfig{
		name: cfg.Name, kind: KindGit, place: shown, unit: shown,
		reader: unitReader{
			source: cfg.Name, kind: KindGit, node: cfg.Node, limits: settings.Limits,
			unsupported: settings.UnsupportedKinds, warn: cfg.Warn, policy: cfg.Policy, paths: cfg.NodePaths,
		},
		interval: settings.Interval, limit: settings.Timeout,
		dir: cfg.Dir, maxRemoval: settings.removal, log: log,
	}, &gitPlace{gitSettings: settings, log: log})}, nil
}

// gitPlace is a ref of a repository. One goroutine uses it.
type gitPlace struct {
	*gitSettings
	log  *slog.Logger
	told string // commit that the log knows
}

// What a git source remembers beside its set.
const (
	markCommit   = "commit"
	markQuestion = "question" // repository, ref, paths and globs
)

// look implements place: one small request while the ref stays where it is.
func (p *gitPlace) look(ctx context.Context, accepted mark) (answer, error) {
	if p.unset != nil {
		return answer{}, p.unset
	}
	visit := p.repo.Visit()
	defer visit.Close()
	target, err := visit.Resolve(ctx, p.ref)
	if err != nil {
		return answer{retryAfter: gitrepo.RetryAfter(err)}, explainTLS(err)
	}
	if accepted[markCommit] == target.Commit && accepted[markQuestion] == p.question() {
		return answer{unchanged: true}, nil
	}
	got, err := visit.Read(ctx, target, p.scope)
	if got.Renewed != "" {
		p.log.Warn("what was fetched before is of no use, it was fetched anew", "reason", got.Renewed)
	}
	if err != nil {
		return answer{retryAfter: gitrepo.RetryAfter(err)}, explainTLS(err)
	}
	return p.answer(target, got, accepted), nil
}

func (p *gitPlace) answer(target gitrepo.Target, got gitrepo.Reading, accepted mark) answer {
	a := answer{
		revision: got.Commit.Hash,
		mark:     mark{markCommit: target.Commit, markQuestion: p.question()},
		note:     p.note(got, accepted[markCommit]),
	}
	for _, f := range got.Files {
		a.files = append(a.files, unitFile{Name: f.Path, Data: f.Data})
	}
	if got.Commit.AllowRemoval {
		a.allow = "trailer on commit " + got.Commit.Hash
	}
	return a
}

// note says once of a commit what it is, and what was in force before. Whether
// it descends from that can't be told: no history is fetched.
func (p *gitPlace) note(got gitrepo.Reading, before string) string {
	if p.told == got.Commit.Hash {
		return ""
	}
	p.told = got.Commit.Hash
	note := "commit " + got.Commit.Hash + " by " + got.Commit.Author + ": " + got.Commit.Subject
	if before != "" && before != got.Commit.Hash {
		note += " (before: " + before + ")"
	}
	return note
}
