package sources

import (
	"context"
	"log/slog"
	"time"
)

// place is what a polled source asks: a URL, a repository.
type place interface {
	// look asks once, and ends with ctx at once, whatever the other side does.
	// accepted is the mark of the set in force, nil when it must be told whole.
	// An error leaves everything as it is; its text has no credentials and is the
	// same as long as the trouble is (no port of ours, no time), since it is
	// logged when it changes. answer.retryAfter counts beside an error too.
	look(ctx context.Context, accepted mark) (answer, error)
}

// mark is what a place needs to find that nothing changed: validators, a commit,
// and of what question they are the answer. It is kept on disk with the set that
// it came with, so it outlives restarts with another configuration. The place
// alone knows the keys.
type mark map[string]string

// answer is what a place says.
type answer struct {
	// unchanged means that the set that accepted came with is still the newest;
	// of the rest only note and retryAfter count then.
	unchanged bool
	revision  string     // as shown: a commit, an ETag; "" for the hash of the content
	mark      mark       // kept if files are good, so only then given to look
	files     []unitFile // as received, in order
	// allow says why the set may remove as much as it likes ("trailer on commit
	// …"); "" when the guard is to judge.
	allow string
	note  string // said in the log at info: "history was rewritten", …
	// retryAfter is the least time to the next look; 0 when the place has no wish.
	retryAfter time.Duration
}

// polledConfig is what every polled source needs; the place has its own.
type polledConfig struct {
	name  string
	kind  Kind
	place string // as shown to users: no credentials, no query
	unit  string // name of the one unit, as shown to users
	// body is true when the unit is one body: its only file has the unit's name,
	// and an explicit empty List may remove everything.
	body     bool
	reader   unitReader
	interval time.Duration // between looks that went well
	limit    time.Duration // of one look
	dir      string        // keeps the last good set; "" keeps none
	// maxRemoval is the percentage of parseMaxRemoval.
	maxRemoval int
	log        *slog.Logger // names the source
}

// polled is the part of a Source that HTTP and git share: the loop, the last
// good set, the guard. All pods of a polled source are of one unit, which is in
// force as a whole or not at all.
type polled struct {
	cfg  polledConfig
	ask  place
	asks chan syncAsk
}

func newPolled(cfg polledConfig, ask place) *polled {
	return &polled{cfg: cfg, ask: ask, asks: make(chan syncAsk)}
}

// Name implements Source.
func (p *polled) Name() string { return p.cfg.name }

// Kind implements Source.
func (p *polled) Kind() Kind { return p.cfg.kind }

// Sync implements Source: the place is asked at once, also while its errors
// make the source wait. A look that is under way ends first.
func (p *polled) Sync(ctx context.Context, req SyncRequest) error {
	return askSync(ctx, p.asks, req)
}

// Recall implements Source.
func (p *polled) Recall() Snapshot {
	l := &pollLoop{cfg: p.cfg}
	if p.cfg.dir != "" {
		l.recall(newGoodStore(p.cfg.dir))
	}
	return l.snapshot()
}

// Run implements Source. It sends the last good set, then looks, sends, waits.
// It owns the goroutine that writes last good sets and ends it before it
// returns; a save under way gets half a second to end.
func (p *polled) Run(ctx context.Context, out chan<- Snapshot) error {
	l := newPollLoop(p)
	defer l.close()
	return l.run(ctx, out)
}
