package gitrepo

import (
	"context"
	"io"
	"strings"
)

// link is one conversation with a server's upload-pack.
type link interface {
	// greet returns what the server says first.
	greet(ctx context.Context) (answer, error)
	// ask sends a request and returns what the server says to it. The answer
	// before must be closed.
	ask(ctx context.Context, request []byte) (answer, error)
	// lasting tells whether the server remembers, within one conversation, what
	// was said before: it greets in each then.
	lasting() bool
	close()
}

// answer is to be read and closed; ctx of the call ends it.
type answer struct {
	*pktReader
	io.Closer
}

// greeting is what a server says first.
type greeting struct {
	v2   bool
	caps map[string]string
	refs []ref  // version 0 only
	base string // URL that the server redirected to; http only
}

// can tells whether the server has a capability, or a feature of one.
func (g *greeting) can(name, feature string) bool {
	value, has := g.caps[name]
	if feature == "" {
		return has
	}
	for word := range strings.FieldsSeq(value) {
		if word == feature {
			return true
		}
	}
	return false
}

// hello returns what the server can do, asking it only when that is not known.
func (v *Visit) hello(ctx context.Context) (*greeting, error) {
	if v.said != nil {
		return v.said, nil
	}
	if v.link == nil {
		link, err := v.repo.connect(ctx)
		if err != nil {
			return nil, err
		}
		v.link = link
	}
	if known := v.repo.hello; known != nil && !v.link.lasting() {
		return known, nil
	}
	a, err := v.link.greet(ctx)
	if err != nil {
		return nil, err
	}
	said, err := readGreeting(a.pktReader)
	if closeErr := a.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, v.explain(err)
	}
	if web, ok := v.link.(*httpLink); ok {
		said.base = web.base
	}
	v.said = said
	if v.repo.hello = nil; said.v2 {
		v.repo.hello = said
	}
	return said, nil
}

// connect opens the conversation that the URL asks for.
func (r *Repo) connect(ctx context.Context) (link, error) {
	switch r.at.via {
	case overSSH:
		return r.connectSSH(ctx)
	case overFile:
		return r.connectLocal()
	}
	return r.connectHTTP()
}

// explain adds what the server's side printed to an answer that ended early.
func (v *Visit) explain(err error) error {
	if s, ok := v.link.(*stream); ok {
		return s.explain(err)
	}
	return err
}
