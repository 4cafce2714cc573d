package gitrepo

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestAmendedHistoryWithGarbageCollection(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	f.push("A")
	f.write("b.yaml", "b1")
	f.push("B")
	for name, r := range ways(t, f) {
		mustLook(t, r, "main", everything())
		f.write("b.yaml", "b of "+name)
		f.in("add", "--all")
		f.in("commit", "-q", "--amend", "-m", "B2 "+name)
		f.in("push", "-q", "--force", "origin", "HEAD:refs/heads/main")
		f.server("reflog", "expire", "--expire=now", "--all")
		f.server("gc", "-q", "--prune=now")
		got := mustLook(t, r, "main", everything())
		if want := map[string]string{"a.yaml": "a", "b.yaml": "b of " + name}; !maps.Equal(texts(got), want) {
			t.Errorf("%s: read %v", name, texts(got))
		}
	}
}

func TestManyCommitsThenAForcePush(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a0")
	base := f.push("0")
	repos := ways(t, f)
	for _, r := range repos {
		mustLook(t, r, "main", everything())
	}
	for i := range 30 {
		f.write("a.yaml", fmt.Sprintf("a%d", i+1))
		f.commit("more")
	}
	f.push("the last")
	for name, r := range repos {
		if got := mustLook(t, r, "main", everything()); texts(got)["a.yaml"] != "a30" {
			t.Errorf("%s: read %v", name, texts(got))
		}
	}
	f.in("reset", "-q", "--hard", base)
	f.write("a.yaml", "forced")
	f.push("forced")
	f.server("reflog", "expire", "--expire=now", "--all")
	f.server("gc", "-q", "--prune=now")
	for name, r := range repos {
		if got := mustLook(t, r, "main", everything()); texts(got)["a.yaml"] != "forced" {
			t.Errorf("%s: read %v", name, texts(got))
		}
	}
}

func TestBranchThatIsMissingAtFirst(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	commit := f.push("first")
	for name, r := range ways(t, f) {
		branch := strings.ReplaceAll(name, " ", "-")
		_, err := look(t, r, branch, everything())
		wantError(t, err, "ask for ref "+branch, "neither a branch nor a tag of this name")
		f.in("push", "-q", "origin", "HEAD:refs/heads/"+branch)
		if got := mustLook(t, r, branch, everything()); got.Commit.Hash != commit {
			t.Errorf("%s: read %s", name, got.Commit.Hash)
		}
		f.in("push", "-q", "origin", ":refs/heads/"+branch)
		_, err = look(t, r, branch, everything())
		wantError(t, err, "neither a branch nor a tag")
	}
	_, err := look(t, newRepo(t, f.bare), "refs/pull/7/head", everything())
	wantError(t, err, "no such ref")
}

func TestDeletedAndMadeAnew(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a1")
	f.push("first")
	r := newRepo(t, f.serve().url())
	mustLook(t, r, "main", everything())
	f.server("update-ref", "-d", "refs/heads/main")
	f.in("checkout", "-q", "--orphan", "again")
	f.write("a.yaml", "a2")
	commit := f.push("another root")
	if got := mustLook(t, r, "main", everything()); got.Commit.Hash != commit || texts(got)["a.yaml"] != "a2" {
		t.Errorf("read %v of %s", texts(got), got.Commit.Hash)
	}
}

func TestServersHeadIsAskedEachTime(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "trunk")
	f.commit("trunk")
	f.in("push", "-q", "origin", "HEAD:refs/heads/trunk")
	f.write("a.yaml", "main")
	f.push("main")
	for name, r := range ways(t, f) {
		for _, branch := range []string{"trunk", "main"} {
			f.server("symbolic-ref", "HEAD", "refs/heads/"+branch)
			if got := mustLook(t, r, "", everything()); texts(got)["a.yaml"] != branch {
				t.Errorf("%s: HEAD is %s, read %v", name, branch, texts(got))
			}
		}
		f.server("symbolic-ref", "HEAD", "refs/heads/nowhere")
		_, err := look(t, r, "", everything())
		wantError(t, err, "ask for HEAD", "leads nowhere")
	}
}

func TestEmptyRepository(t *testing.T) {
	f := newForge(t)
	for name, r := range ways(t, f) {
		_, err := look(t, r, "", everything())
		if err == nil || !strings.Contains(err.Error(), "the repository is empty") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTags(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "1")
	first := f.push("first")
	f.in("tag", "light")
	f.in("tag", "-a", "-m", "annotated", "heavy")
	f.in("tag", "-a", "-m", "of a tag", "nested", "heavy")
	f.in("push", "-q", "origin", "--tags")
	f.write("a.yaml", "2")
	second := f.push("second")
	repos := ways(t, f)
	for name, r := range repos {
		for _, ref := range []string{"light", "heavy", "nested", "refs/tags/heavy", f.in("rev-parse", "heavy")} {
			if got := mustLook(t, r, ref, everything()); got.Commit.Hash != first || texts(got)["a.yaml"] != "1" {
				t.Errorf("%s, %s: read %v of %s", name, ref, texts(got), got.Commit.Hash)
			}
		}
	}
	f.in("tag", "-f", "-a", "-m", "moved", "heavy", second)
	f.in("push", "-q", "--force", "origin", "refs/tags/heavy")
	for name, r := range repos {
		if got := mustLook(t, r, "heavy", everything()); got.Commit.Hash != second {
			t.Errorf("%s: moved tag leads to %s", name, got.Commit.Hash)
		}
	}
	f.in("push", "-q", "origin", first+":refs/heads/heavy")
	for name, r := range repos {
		if got := mustLook(t, r, "heavy", everything()); got.Commit.Hash != first {
			t.Errorf("%s: the branch does not come before the tag", name)
		}
	}
}

func TestPinnedCommit(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "1")
	pinned := f.push("first")
	f.write("a.yaml", "2")
	f.push("second")
	for name, r := range ways(t, f) {
		got := mustLook(t, r, strings.ToUpper(pinned), everything())
		if got.Commit.Hash != pinned || texts(got)["a.yaml"] != "1" {
			t.Errorf("%s: read %v of %s", name, texts(got), got.Commit.Hash)
		}
	}
	h := f.serve()
	r := newRepo(t, h.url())
	v := r.Visit()
	defer v.Close()
	if _, err := v.Resolve(t.Context(), pinned); err != nil || len(h.take()) > 0 {
		t.Errorf("a commit needs no question: %v", err)
	}
}

func TestCommitThatNobodyHasIsSearchedForOnce(t *testing.T) {
	const nowhere = "0123456789abcdef0123456789abcdef01234567"
	f := newForge(t)
	f.write("a.yaml", "1")
	f.push("first")
	f.in("push", "-q", "origin", "HEAD:refs/heads/other")
	for _, old := range []bool{false, true} {
		h := f.serve()
		if old {
			h.intercept(onlyOld)
		}
		r := newRepo(t, h.url())
		for i := range 3 {
			h.take()
			_, err := look(t, r, nowhere, everything())
			wantError(t, err, "read commit 0123456789ab", "can't be had", "not among the last 1000 commits of")
			if n := len(h.take()); i > 0 && n > 2 { // the refusal, and the refs
				t.Errorf("look %d cost %d requests (old server: %v)", i, n, old)
			}
		}
		f.in("commit", "-q", "--allow-empty", "-m", "another")
		f.in("push", "-q", "origin", "HEAD:refs/heads/other")
		_, err := look(t, r, nowhere, everything())
		wantError(t, err, "can't be had")
	}
}
