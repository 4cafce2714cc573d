package sources

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/manifests"
)

func TestGitFollowsABranch(t *testing.T) {
	r := newGitRig(t)
	first := r.push("first", map[string]string{"pods/lamp.yaml": manifest("lamp", "on"), "other/x.yaml": "nonsense: ["})
	r.start()
	s := r.good(first, "lamp-n1")
	if place := "file://" + r.bare + "@main:pods"; s.Place != place || s.Kind != KindGit || !s.Live || s.Units[0].Name != place {
		t.Errorf("shown as %s, unit %s", s.Place, s.Units[0].Name)
	}
	if o := s.Pods[0].Origin; o.File != "pods/lamp.yaml" || o.Revision != first || o.Unit != s.Place || o.Line != 1 {
		t.Errorf("origin is %+v", o)
	}
	r.good(first, "lamp-n1")
	second := r.push("second", map[string]string{"pods/lamp.yaml": manifest("lamp", "off"), "pods/deep/kiln.yaml": manifest("kiln", "x")})
	r.good(second, "kiln-n1", "lamp-n1")
	if want := []string{"ADD lamp-n1", "REMOVE lamp-n1", "ADD kiln-n1", "ADD lamp-n1"}; !slices.Equal(r.changes, want) {
		t.Errorf("changes %q", r.changes)
	}
	if r.log.count("commit "+second+" by Ada: second (before: "+first+")") != 1 || r.log.count("commit "+first) < 1 {
		t.Errorf("the log does not name the commits once:\n%s", r.log)
	}
}

func TestGitCommitIsTheUnit(t *testing.T) {
	r := newGitRig(t)
	first := r.push("a and b", map[string]string{"pods/a.yaml": manifest("a", "1"), "pods/b.yaml": manifest("b", "1")})
	r.start().good(first, "a-n1", "b-n1")
	r.push("delete a, break b", map[string]string{"pods/b.yaml": "kind: Pod\n  oops"})
	r.bad(first, []string{"a-n1", "b-n1"}, "pods/b.yaml:1")
	r.bad(first, []string{"a-n1", "b-n1"}, "pods/b.yaml:1")
	third := r.push("repair b", map[string]string{"pods/b.yaml": manifest("b", "2")})
	r.good(third, "b-n1")
	if want := []string{"ADD a-n1", "ADD b-n1", "REMOVE a-n1", "REMOVE b-n1", "ADD b-n1"}; !slices.Equal(r.changes, want) {
		t.Errorf("changes %q", r.changes)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(r.work, "pods/x.yaml")); err != nil {
		t.Fatal(err)
	}
	r.git(r.work, "add", "--all")
	r.git(r.work, "commit", "-q", "-m", "link")
	r.git(r.work, "push", "-q", "origin", "HEAD:refs/heads/main")
	r.bad(third, []string{"b-n1"}, "pods/x.yaml is a symbolic link")
}

func TestGitSetThatIsEmptyAndPathThatIsGone(t *testing.T) {
	r := newGitRig(t)
	files := map[string]string{"README.md": "fleet", "pods/README.md": "pods", "pods/a.yaml": manifest("a", "1"), "pods/b.yaml": manifest("b", "1")}
	first := r.push("first", files)
	r.start().good(first, "a-n1", "b-n1")
	r.push("folder gone", map[string]string{"README.md": "fleet"})
	r.bad(first, []string{"a-n1", "b-n1"}, "path pods is not in the commit")
	r.push("manifests gone", map[string]string{"pods/README.md": "pods"})
	r.bad(first, []string{"a-n1", "b-n1"}, "RemovalHeld", "podstead sync --allow-removal fleet")
	meant := r.push("meant\n\nPodstead-Allow-Removal: yes", map[string]string{"pods/README.md": "pods"})
	r.good(meant)
	if r.log.count("removal is allowed", "trailer on commit "+meant) != 1 {
		t.Errorf("the reason is not in the log:\n%s", r.log)
	}
	last := r.push("back", files)
	r.good(last, "a-n1", "b-n1")
}

func TestGitRemovalWhileTheAgentWasDown(t *testing.T) {
	r := newGitRig(t)
	first := r.push("first", map[string]string{"pods/a.yaml": manifest("a", "1"), "pods/kiln.yaml": manifest("kiln", "1")})
	r.start().good(first, "a-n1", "kiln-n1")
	r.stop()
	second := r.push("remove kiln", map[string]string{"pods/a.yaml": manifest("a", "1")})
	// Fetched by an agent that was killed before it could tell anybody.
	cfg := r.cfg
	settings, err := cfg.check()
	if err != nil {
		t.Fatal(err)
	}
	place := &gitPlace{gitSettings: settings, log: cfg.Logger}
	if a, err := place.look(t.Context(), nil); err != nil || a.revision != second {
		t.Fatalf("looked: %+v, %v", a, err)
	}
	r.start().good(second, "a-n1")
	if want := []string{"ADD a-n1", "ADD kiln-n1", "REMOVE kiln-n1"}; !slices.Equal(r.changes, want) {
		t.Errorf("changes %q", r.changes)
	}
}

func TestGitLastGoodSetWithoutTheServer(t *testing.T) {
	r := newGitRig(t)
	first := r.push("first", map[string]string{"pods/a.yaml": manifest("a", "1")})
	r.start().good(first, "a-n1")
	r.stop()
	if err := os.Rename(r.bare, r.bare+".away"); err != nil {
		t.Fatal(err)
	}
	r.start().bad(first, []string{"a-n1"}, "no such file")
	if r.last.Live || !r.last.Attempted {
		t.Errorf("live %v, attempted %v", r.last.Live, r.last.Attempted)
	}
	if err := os.Rename(r.bare+".away", r.bare); err != nil {
		t.Fatal(err)
	}
	if s := r.good(first, "a-n1"); !s.Live {
		t.Error("not live though it was asked")
	}
}

func TestGitConfigurationThatChangesReadsTheSameCommitAgain(t *testing.T) {
	r := newGitRig(t)
	commit := r.push("first", map[string]string{
		"nodes/n1/a.yaml": manifest("a", "1"), "nodes/n2/b.yaml": manifest("b", "1"), "zones/a/c.yaml": manifest("c", "1"),
	})
	for _, c := range []struct {
		name             string
		paths            []string
		include, exclude []string
		want             []string
	}{
		{name: "this node's", paths: []string{"nodes/$(NODE_NAME)"}, want: []string{"a-n1"}},
		{name: "and its zone's", paths: []string{"nodes/$(NODE_NAME)", "zones/$(NODE_LABEL:zone)"}, want: []string{"a-n1", "c-n1"}},
		{name: "all but", exclude: []string{"n1"}, paths: nil, want: []string{"a-n1", "b-n1", "c-n1"}},
		{name: "only", include: []string{"nodes/**"}, want: []string{"a-n1", "b-n1"}},
	} {
		r.cfg.Paths, r.cfg.Include, r.cfg.Exclude = c.paths, c.include, c.exclude
		if c.name == "all but" {
			r.cfg.Exclude = []string{"nothing"}
		}
		r.start().good(commit, c.want...)
		r.stop()
	}
}

func TestGitNodeWithoutTheLabel(t *testing.T) {
	r := newGitRig(t)
	r.push("first", map[string]string{"zones/a.yaml": manifest("a", "1")})
	for _, c := range []struct {
		name  string
		path  string
		ref   string
		node  manifests.Node
		words string
	}{
		{"unset", "zones/$(NODE_LABEL:rack)", "main", testNode, `no value for $(NODE_LABEL:rack)`},
		{"unset in the ref", "zones", "env-$(NODE_LABEL:rack)", testNode, `no value for $(NODE_LABEL:rack)`},
		{"leads upwards", "zones/$(NODE_LABEL:rack)", "main", manifests.Node{Name: "n1", Labels: map[string]string{"rack": ".."}}, "would lead elsewhere"},
		{"leads elsewhere", "zones/$(NODE_LABEL:rack)", "main", manifests.Node{Name: "n1", Labels: map[string]string{"rack": "a/b"}}, "would lead elsewhere"},
	} {
		r.cfg.Paths, r.cfg.Ref, r.cfg.Node = []string{c.path}, c.ref, c.node
		r.start().bad("", nil, c.words)
		r.stop()
	}
}

func TestGitBranchPerNode(t *testing.T) {
	r := newGitRig(t)
	r.push("main", map[string]string{"pods/a.yaml": manifest("a", "main")})
	r.cfg.Ref = "nodes/$(NODE_NAME)"
	r.start().bad("", nil, "ask for ref nodes/n1", "neither a branch nor a tag")
	commit := r.push("n1", map[string]string{"pods/a.yaml": manifest("a", "n1")})
	r.git(r.work, "push", "-q", "origin", "HEAD:refs/heads/nodes/n1")
	if s := r.good(commit, "a-n1"); !strings.HasSuffix(s.Place, "@nodes/n1:pods") {
		t.Errorf("shown as %s", s.Place)
	}
}

func TestGitDamagedCacheIsToldAndReplaced(t *testing.T) {
	r := newGitRig(t)
	first := r.push("first", map[string]string{"pods/a.yaml": manifest("a", "1")})
	r.start().good(first, "a-n1")
	packs, err := filepath.Glob(filepath.Join(r.cfg.Dir, "git", "current", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal("nothing is kept")
	}
	for _, path := range packs {
		if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := r.push("second", map[string]string{"pods/a.yaml": manifest("a", "2"), "pods/b.yaml": manifest("b", "1")})
	r.good(second, "a-n1", "b-n1")
	// Whether the server's answer needed the rubbish or not, it is used no more.
	third := r.push("third", map[string]string{"pods/a.yaml": manifest("a", "2")})
	r.good(third, "a-n1")
}

func TestGitTokenIsNowhere(t *testing.T) {
	const token = "tok-77aa"
	r := newGitRig(t)
	first := r.push("first", map[string]string{"pods/a.yaml": manifest("a", "1")})
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(r.bare), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if user, password, _ := q.BasicAuth(); user != "org" || password != token {
			http.Error(w, "not "+user+" "+password, http.StatusForbidden)
			return
		}
		backend.ServeHTTP(w, q)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	r.cfg.URL = strings.Replace(server.URL, "http://", "http://org@", 1) + "/fleet.git"
	r.cfg.PasswordFile = file
	r.start().good(first, "a-n1")
	if err := os.WriteFile(file, []byte(token+"-old"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.bad(first, []string{"a-n1"}, "403 Forbidden", "refuses the credentials")
	r.stop()
	if text := r.log.String() + describe(r.last); strings.Contains(text, "tok-") || strings.Contains(text, "org") {
		t.Errorf("a credential is shown:\n%s", text)
	}
	err = filepath.WalkDir(r.cfg.Dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "tok-") {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestGitTroubleIsToldAsThatOfAURL(t *testing.T) {
	ca := newAuthority(t)
	day := 24 * time.Hour
	past := [2]time.Time{time.Now().Add(-9 * day), time.Now().Add(-2 * day)}
	for _, tc := range []struct {
		name  string
		cert  []tls.Certificate
		other bool // another authority is trusted
		gone  bool
		says  string
	}{
		{name: "unknown authority", cert: []tls.Certificate{ca.sign(always, "")}, other: true,
			says: `ask for ref main: the server's certificate of "CN=server" is signed by an unknown authority`},
		{name: "expired", cert: []tls.Certificate{ca.sign(past, "")}, says: `ask for ref main: the certificate of "CN=server" has expired on `},
		{name: "no TLS", says: "ask for ref main: the server does not speak TLS there: is it http:// instead of https://?"},
		{name: "gone", gone: true, says: "ask for ref main: dial localhost:PORT: connect: connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			if tc.cert == nil {
				server.Start()
			} else {
				server.TLS = &tls.Config{Certificates: tc.cert}
				server.StartTLS()
			}
			defer server.Close()
			if tc.gone {
				server.Close()
			}
			_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
			r := newGitRig(t)
			trusted := ca
			if tc.other {
				trusted = newAuthority(t)
			}
			r.cfg.URL, r.cfg.CAFile = "https://localhost:"+port+"/fleet.git", filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(r.cfg.CAFile, []byte(trusted.pem()), 0o600); err != nil {
				t.Fatal(err)
			}
			r.start()
			if got, want := r.last.Faults[0].Message, strings.Replace(tc.says, "PORT", port, 1); !strings.HasPrefix(got, want) {
				t.Errorf("says %s\nwant %s", got, want)
			}
		})
	}
}

func TestGitConfigurationNamesAllThatIsWrong(t *testing.T) {
	_, err := NewGit(GitConfig{
		URL: "https://ada:s3cret@git.example/r.git", Ref: "a..b", Paths: []string{"../up", "/abs", "$(HOST)", "a/$(NODE_NAME"},
		Include: []string{"["}, Interval: -time.Second, MaxPack: -1, MaxRemoval: "lots", UnsupportedKinds: "maybe", Policy: "none", Timeout: -1,
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, word := range []string{
		"configure git source", "a name is needed", "passwordFile", `ref "a..b"`, `"../up" leads upwards`, `"/abs" is absolute`,
		"$(HOST) is neither", "not closed", `pattern "["`, "interval", "pack size", "maxRemoval", "unsupportedKinds", "timeout", "policy",
	} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q lacks %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "s3cret") {
		t.Errorf("the error shows a secret: %v", err)
	}
}
