package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Target is what a ref leads to on the server.
type Target struct {
	Commit string // 40 hex digits
	Ref    string // full name on the server; "" where a commit was asked for

	want plumbing.Hash // what the ref itself names: the commit, or a tag of it
}

// CheckRef says what is wrong with the name of a branch, a tag, a full ref or a
// commit; "" is the server's HEAD.
func CheckRef(name string) error {
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) }
	switch {
	case name == "":
		return nil
	case strings.ContainsFunc(name, bad), strings.Contains(name, ".."), strings.Contains(name, "//"),
		strings.Contains(name, "@{"), strings.HasPrefix(name, "-"), strings.HasPrefix(name, "/"),
		strings.HasSuffix(name, "/"), strings.HasSuffix(name, "."), strings.HasSuffix(name, ".lock"), len(name) > 1024:
		return fmt.Errorf("ref %q is no name that git allows", name)
	}
	return nil
}

// candidates are the full names that a ref may mean, the first found counts: a
// branch before a tag, unlike git, since what is deployed is nearly always a
// branch and a tag of its name must not take it over.
func candidates(name string) []string {
	switch {
	case name == "" || name == "HEAD":
		return []string{"HEAD"}
	case strings.HasPrefix(name, "refs/"):
		return []string{name}
	}
	return []string{"refs/heads/" + name, "refs/tags/" + name}
}

// Resolve asks the server what a ref leads to now: a branch, a tag (a branch
// comes first where both exist), a name that begins with refs/, or "" for the
// server's HEAD. A commit's 40 hex digits are it and nothing is asked.
func (v *Visit) Resolve(ctx context.Context, name string) (Target, error) {
	if err := CheckRef(name); err != nil {
		return Target{}, err
	}
	if plumbing.IsHash(name) {
		return Target{Commit: strings.ToLower(name), want: plumbing.NewHash(name)}, nil
	}
	var found Target
	err := limited(ctx, v.repo.cfg.ResolveTimeout, "ask for "+shownRef(name), func(ctx context.Context) error {
		refs, err := v.refs(ctx, candidates(name))
		if err == nil {
			found, err = choose(refs, name)
		}
		return err
	})
	return found, err
}

func shownRef(name string) string {
	if name == "" {
		return "HEAD"
	}
	return "ref " + name
}

func choose(refs []ref, name string) (Target, error) {
	for _, full := range candidates(name) {
		for _, r := range refs {
			if r.name == full {
				return Target{Commit: r.hash.String(), Ref: full, want: r.own}, nil
			}
		}
	}
	switch {
	case name == "" || name == "HEAD":
		return Target{}, errors.New("the server's HEAD leads nowhere: the repository is empty, or its default branch is missing")
	case strings.HasPrefix(name, "refs/"):
		return Target{}, errors.New("the server has no such ref")
	}
	return Target{}, errors.New("the server has neither a branch nor a tag of this name")
}

// refs returns the server's refs that begin with one of the prefixes, maybe
// others too. What was remembered of a server is asked anew when the server
// does not behave as remembered.
func (v *Visit) refs(ctx context.Context, prefixes []string) ([]ref, error) {
	remembered := v.repo.hello != nil && v.said == nil
	said, err := v.hello(ctx)
	if err != nil {
		return nil, err
	}
	if !said.v2 {
		return said.refs, nil
	}
	refs, err := v.lsRefs(ctx, said, prefixes)
	if err == nil || v.link.lasting() {
		return refs, err
	}
	v.repo.hello = nil // ask again what the server can do, now or the next time
	if !remembered || !changedMind(err) {
		return nil, err
	}
	v.Close()
	return v.refs(ctx, prefixes)
}

// changedMind tells whether an error may come of a server that was replaced by
// another one.
func changedMind(err error) bool {
	var remote *remoteError
	var status *statusError
	return errors.Is(err, errProtocol) || errors.As(err, &remote) || errors.As(err, &status) && !status.denied()
}

func (v *Visit) lsRefs(ctx context.Context, said *greeting, prefixes []string) ([]ref, error) {
	var request pktWriter
	request.command("ls-refs", said)
	request.linef("peel")
	for _, prefix := range prefixes {
		request.linef("ref-prefix %s", prefix)
	}
	request.flush()
	a, err := v.link.ask(ctx, request.Bytes())
	if err != nil {
		return nil, err
	}
	defer a.Close()
	refs, err := readListing(a.pktReader)
	if err != nil {
		return nil, v.explain(err)
	}
	return refs, nil
}

// command begins a request of version 2.
func (w *pktWriter) command(name string, said *greeting) {
	w.linef("command=%s", name)
	if said.can("agent", "") {
		w.linef("agent=podstead")
	}
	if said.can("object-format", "sha1") {
		w.linef("object-format=sha1")
	}
	w.delim()
}

func readListing(p *pktReader) ([]ref, error) {
	var refs []ref
	for {
		kind, text, err := p.line()
		switch {
		case err != nil:
			return nil, err
		case kind == packetFlush:
			return refs, nil
		case kind != packetData || len(refs) >= maxRefs:
			return nil, errProtocol
		}
		words := strings.Split(text, " ")
		if len(words) < 2 || !plumbing.IsHash(words[0]) {
			return nil, errProtocol
		}
		found := ref{name: words[1], hash: plumbing.NewHash(words[0]), own: plumbing.NewHash(words[0])}
		for _, attribute := range words[2:] {
			if hash, ok := strings.CutPrefix(attribute, "peeled:"); ok && plumbing.IsHash(hash) {
				found.hash = plumbing.NewHash(hash)
			}
		}
		refs = append(refs, found)
	}
}
