package gitrepo

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// ref is a name on the server and what it leads to.
type ref struct {
	name string
	own  plumbing.Hash // of what it names
	hash plumbing.Hash // of the commit, where that is an annotated tag
}

const (
	// maxRefs is how many refs of a server are looked at.
	maxRefs = 1_000_000
	// maxCapabilities bounds the bytes of a greeting of version 2, which is kept.
	maxCapabilities = 64 << 10
)

// readGreeting reads capabilities, and the refs of a server that speaks
// version 0.
func readGreeting(p *pktReader) (*greeting, error) {
	kind, text, err := p.line()
	if err == nil && kind == packetData && strings.HasPrefix(text, "# service=") {
		if _, err = p.skip(); err != nil { // the flush after it
			return nil, err
		}
		kind, text, err = p.line()
	}
	switch {
	case err != nil:
		return nil, err
	case kind == packetData && text == "version 2":
		p.left = maxCapabilities
		return readCapabilities(p)
	case kind == packetData && text == "version 1":
		if kind, text, err = p.line(); err != nil {
			return nil, err
		}
	}
	return readRefs(p, kind, text)
}

func readCapabilities(p *pktReader) (*greeting, error) {
	g := &greeting{v2: true, caps: map[string]string{}}
	for {
		kind, text, err := p.line()
		switch {
		case err != nil:
			return nil, err
		case kind == packetFlush:
			return g, g.check()
		case kind != packetData || len(g.caps) >= 1000:
			return nil, errProtocol
		}
		name, value, _ := strings.Cut(text, "=")
		g.caps[name] = value
	}
}

// readRefs reads the refs that a server of version 0 lists unasked; the first
// line has come already.
func readRefs(p *pktReader, kind packet, text string) (*greeting, error) {
	g := &greeting{caps: map[string]string{}}
	line, caps, _ := strings.Cut(text, "\x00")
	for word := range strings.FieldsSeq(caps) {
		name, value, _ := strings.Cut(word, "=")
		g.caps[name] = strings.TrimSpace(g.caps[name] + " " + value)
	}
	for kind == packetData && len(g.refs) < maxRefs {
		if err := g.add(line); err != nil {
			return nil, err
		}
		var err error
		if kind, line, err = p.line(); err != nil {
			return nil, err
		}
	}
	if kind != packetFlush {
		return nil, errProtocol
	}
	return g, g.check()
}

// add takes "<hash> <name>"; a name that ends in ^{} is what the tag before it
// leads to.
func (g *greeting) add(line string) error {
	if strings.HasPrefix(line, "shallow ") {
		return nil
	}
	hash, name, found := strings.Cut(line, " ")
	if !found || !plumbing.IsHash(hash) {
		return errProtocol
	}
	if tag, peeled := strings.CutSuffix(name, "^{}"); peeled {
		if n := len(g.refs); n > 0 && g.refs[n-1].name == tag {
			g.refs[n-1].hash = plumbing.NewHash(hash)
		}
		return nil // an empty repository's "capabilities^{}" too
	}
	g.refs = append(g.refs, ref{name: name, own: plumbing.NewHash(hash), hash: plumbing.NewHash(hash)})
	return nil
}

// check tells what is missing that nothing works without.
func (g *greeting) check() error {
	if format, has := g.caps["object-format"]; has && !g.can("object-format", "sha1") {
		return fmt.Errorf("the repository's object format is %s; only sha1 is read", printable(format))
	}
	if g.v2 {
		if !g.can("fetch", "shallow") {
			return fmt.Errorf("the server can't send a commit without its history")
		}
		return nil
	}
	for _, name := range []string{"shallow", "side-band-64k"} {
		if len(g.refs) > 0 && !g.can(name, "") {
			return fmt.Errorf("the server lacks the capability %s", name)
		}
	}
	return nil
}
