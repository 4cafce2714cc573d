package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// wish is what is asked of a server.
type wish struct {
	want []plumbing.Hash
	// have is a commit that is here without its history; zero for none. Servers
	// leave out what is in it only if they may tell the rest as differences from
	// it, which makes a pack that is no use without this store.
	have  plumbing.Hash
	depth int  // commits of history; 0 for all
	lean  bool // without file contents: only if the server can do that
}

// filterContents leaves file contents out of a pack.
const filterContents = "blob:none"

// lean tells whether the server leaves contents out when asked to, and gives
// them by their names later, which version 0 does not.
func (g *greeting) lean() bool { return g.v2 && g.can("fetch", "filter") }

// brokenOff is the end of a pack in its midst: the store is not to blame for it.
type brokenOff struct{ error }

func (e *brokenOff) Unwrap() error { return e.error }

// fetch asks for objects and adds them to h.
func (v *Visit) fetch(ctx context.Context, h *holding, w wish) (err error) {
	said, err := v.hello(ctx)
	if err != nil {
		return err
	}
	request := w.request(said)
	if v.link.lasting() {
		began := time.Now()
		defer func() { v.hangUp(began, err) }()
	}
	a, err := v.link.ask(ctx, request.Bytes())
	if err != nil {
		return err
	}
	defer a.Close()
	a.left = v.repo.cfg.Limits.Pack + maxAnswer
	return h.add(ctx, func(to io.Writer) error {
		pack := bounded(to, v.repo.cfg.Limits.Pack)
		begun := false
		err := v.explain(readPack(a.pktReader, said.v2, writer(func(p []byte) (int, error) {
			begun = true
			return pack.Write(p)
		})))
		if err != nil && begun {
			return &brokenOff{err}
		}
		return err
	})
}

// hangUp ends a conversation that can't go on: after an error, after a pack of
// version 0, or when the other side may have found it too quiet.
func (v *Visit) hangUp(since time.Time, err error) {
	if err == nil && v.said != nil && v.said.v2 && time.Since(since) < v.repo.cfg.IdleTimeout/2 {
		return
	}
	v.Close()
}

// request puts the wish in the server's words.
func (w wish) request(said *greeting) *pktWriter {
	var request pktWriter
	features := ""
	if said.v2 {
		request.command("fetch", said)
		request.linef("ofs-delta")
		request.linef("no-progress")
		if !w.have.IsZero() {
			request.linef("thin-pack")
		}
	} else {
		features = " ofs-delta no-progress side-band-64k shallow"
		if !w.have.IsZero() {
			features += " thin-pack"
		}
		if said.can("agent", "") {
			features += " agent=podstead"
		}
	}
	for i, hash := range w.want {
		if i > 0 {
			features = ""
		}
		request.linef("want %s%s", hash, features)
	}
	if !w.have.IsZero() {
		request.linef("shallow %s", w.have)
	}
	if w.depth > 0 {
		request.linef("deepen %d", w.depth)
	}
	if w.lean {
		request.linef("filter %s", filterContents)
	}
	if !said.v2 {
		request.flush()
	}
	if !w.have.IsZero() {
		request.linef("have %s", w.have)
	}
	request.linef("done")
	if said.v2 {
		request.flush()
	}
	return &request
}

// readPack copies the pack out of an answer.
func readPack(p *pktReader, v2 bool, to io.Writer) error {
	if v2 {
		if err := findPack(p); err != nil {
			return err
		}
	}
	for {
		kind, payload, err := p.next()
		switch {
		case err != nil:
			return err
		case kind == packetFlush && !v2:
			continue // after what the server says of shallow commits
		case kind != packetData, len(payload) == 0:
			return errProtocol
		}
		if !v2 && besidePack(string(payload)) {
			continue
		}
		return demultiplex(p, payload, to)
	}
}

// besidePack tells the lines that version 0 has before a pack.
func besidePack(line string) bool {
	for _, word := range []string{"shallow ", "unshallow ", "NAK", "ACK "} {
		if strings.HasPrefix(line, word) {
			return true
		}
	}
	return false
}

// findPack reads up to the pack of a version 2 answer.
func findPack(p *pktReader) error {
	for {
		kind, section, err := p.line()
		switch {
		case err != nil:
			return err
		case kind != packetData:
			return errProtocol
		case section == "packfile":
			return nil
		}
		if kind, err = p.skip(); err != nil {
			return err
		}
		if kind != packetDelim {
			return errors.New("the server sends no pack")
		}
	}
}

// The bands of a pack's packets.
const (
	bandData     = 1
	bandProgress = 2
	bandError    = 3
)

// demultiplex copies from the first packet of the pack to its end.
func demultiplex(p *pktReader, payload []byte, to io.Writer) error {
	for {
		switch payload[0] {
		case bandData:
			if _, err := to.Write(payload[1:]); err != nil {
				return err
			}
		case bandProgress:
		case bandError:
			return &remoteError{printable(string(payload[1:]))}
		default:
			return errProtocol
		}
		kind, next, err := p.next()
		switch {
		case err != nil:
			return err
		case kind == packetFlush:
			return nil
		case kind != packetData || len(next) == 0:
			return errProtocol
		}
		payload = next
	}
}

// bounded refuses a pack beyond its limit.
func bounded(to io.Writer, limit int64) io.Writer {
	left := limit
	return writer(func(p []byte) (int, error) {
		if left -= int64(len(p)); left < 0 {
			return 0, fmt.Errorf("%w of %d bytes for what is fetched at once, which is maxPackSize", errLimit, limit)
		}
		return to.Write(p)
	})
}

// errLimit is a repository beyond a configured limit.
var errLimit = errors.New("exceeds the limit")
