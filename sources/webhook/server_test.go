package webhook

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const secret, token = "s3cr3t", "t0k3n"

// rig is a running server with the sources fleet (git) and url (http).
type rig struct {
	t      *testing.T
	cfg    Config
	url    string
	log    *transcript
	looked chan string   // each look that begins
	let    chan struct{} // one for each look that may end; closed for all
}

type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, log: &transcript{}, looked: make(chan string, 100), let: make(chan struct{})}
	r.cfg = Config{
		Address: "127.0.0.1:0", Path: "/hook",
		SecretFile: write(t, filepath.Join(dir, "secret"), secret+"\n"), TokenFile: write(t, filepath.Join(dir, "token"), token),
		Targets: func() []Target {
			return []Target{{Name: "fleet", Git: true, URL: "git@git.example:Org/fleet.git", Ref: "main"}, {Name: "url"}}
		},
		Trigger: func(ctx context.Context, source string) error {
			r.looked <- source
			select {
			case <-r.let:
			case <-ctx.Done():
			}
			return ctx.Err()
		},
		Logger: slog.New(slog.NewTextHandler(r.log, nil)),
	}
	return r
}

// start runs the server until the test ends.
func (r *rig) start() *rig {
	r.t.Helper()
	bound := make(chan string, 1)
	r.cfg.State = func(address string, err error) {
		if err == nil {
			bound <- address
		}
	}
	s, err := New(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		<-ended
		http.DefaultClient.CloseIdleConnections()
	})
	r.url = "http://" + <-bound + "/hook"
	return r
}

// post sends a body with headers "Name: value".
func (r *rig) post(body string, headers ...string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

func sign(body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

const githubPush = `{"ref":"refs/heads/main","after":"abc","repository":{"clone_url":"https://git.example/org/fleet.git","ssh_url":"git@git.example:org/fleet.git"}}`

func TestWhoMayPushAndWhatItDoes(t *testing.T) {
	gitlab := `{"object_kind":"push","ref":"refs/heads/main","project":{"git_ssh_url":"ssh://git@git.example:2222/org/fleet.git"}}`
	form := "payload=" + url.QueryEscape(githubPush)
	cases := []struct {
		name    string
		body    string
		headers []string
		code    int
		looks   []string
	}{
		{"GitHub", githubPush, []string{"X-GitHub-Event: push", "X-Hub-Signature-256: sha256=" + sign(githubPush)}, 202, []string{"fleet"}},
		{"GitHub as a form", form, []string{"X-GitHub-Event: push", "Content-Type: application/x-www-form-urlencoded", "X-Hub-Signature-256: sha256=" + sign(form)}, 202, []string{"fleet"}},
		{"Gitea", githubPush, []string{"X-Gitea-Event: push", "X-Gitea-Signature: " + sign(githubPush)}, 202, []string{"fleet"}},
		{"Forgejo", githubPush, []string{"X-Forgejo-Event: push", "X-Forgejo-Signature: " + sign(githubPush)}, 202, []string{"fleet"}},
		{"GitLab", gitlab, []string{"X-Gitlab-Event: Push Hook", "X-Gitlab-Token: " + secret}, 202, []string{"fleet"}},
		{"GitLab, system hook", gitlab, []string{"X-Gitlab-Event: System Hook", "X-Gitlab-Token: " + secret}, 202, []string{"fleet"}},
		{"Bitbucket", githubPush, []string{"X-Event-Key: repo:push", "X-Hub-Signature: sha256=" + sign(githubPush)}, 202, []string{"fleet"}},
		{"generic with a bearer token", "", []string{"Authorization: Bearer " + token}, 202, []string{"fleet", "url"}},
		{"generic with our header", "{}", []string{"X-Podstead-Token: " + token}, 202, []string{"fleet", "url"}},
		{"generic, signed", "{}", []string{"X-Podstead-Signature: " + sign("{}")}, 202, []string{"fleet", "url"}},
		{"generic that names a repository", githubPush, []string{"X-Podstead-Token: " + token}, 202, []string{"fleet"}},

		{"ping", `{"zen":"."}`, []string{"X-GitHub-Event: ping", "X-Hub-Signature-256: sha256=" + sign(`{"zen":"."}`)}, 200, nil},
		{"release event without a ref", `{"object_kind":"release"}`, []string{"X-Gitlab-Event: Release Hook", "X-Gitlab-Token: " + secret}, 200, nil},
		{"push event without a ref", `{"project":{}}`, []string{"X-Gitlab-Event: Push Hook", "X-Gitlab-Token: " + secret}, 200, nil},
		{"push event that is no JSON", "<xml>", []string{"X-Gitlab-Event: Push Hook", "X-Gitlab-Token: " + secret}, 200, nil},
		{"another branch", strings.ReplaceAll(githubPush, "main", "dev"), []string{"X-Gitlab-Event: Push Hook", "X-Gitlab-Token: " + secret}, 200, nil},
		{"another repository", strings.ReplaceAll(githubPush, "fleet", "other"), []string{"X-Gitlab-Event: Push Hook", "X-Gitlab-Token: " + secret}, 200, nil},

		{"nothing shown", githubPush, []string{"X-GitHub-Event: push"}, 401, nil},
		{"a signature of another body", githubPush, []string{"X-Hub-Signature-256: sha256=" + sign("x")}, 401, nil},
		{"an old kind of signature", githubPush, []string{"X-Hub-Signature: sha1=" + sign(githubPush)[:40]}, 401, nil},
		{"an empty signature", githubPush, []string{"X-Hub-Signature-256: sha256="}, 401, nil},
		{"a wrong token", githubPush, []string{"Authorization: Bearer " + secret}, 401, nil},
		{"an empty token", githubPush, []string{"X-Gitlab-Token: "}, 401, nil},
	}
	r := newRig(t)
	close(r.let)
	r.start()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			code, text := r.post(c.body, c.headers...)
			if code != c.code || code == 401 && text != "unauthorized\n" {
				t.Errorf("answered %d %s", code, text)
			}
			var looks []string
			for range c.looks {
				looks = append(looks, <-r.looked)
			}
			if slices.Sort(looks); !slices.Equal(looks, c.looks) {
				t.Errorf("%v look, want %v", looks, c.looks)
			}
		})
	}
	if n := strings.Count(r.log.String(), "webhook refused"); n != 1 {
		t.Errorf("%d refusals logged, want 1 a minute", n)
	}
	if text := r.log.String(); strings.Contains(text, secret) || strings.Contains(text, token) {
		t.Errorf("a secret is in the log:\n%s", text)
	}
}

func TestWhatIsMissingIsTold(t *testing.T) {
	r := newRig(t)
	check := func() error {
		s, err := New(r.cfg)
		if err != nil {
			t.Fatal(err)
		}
		return s.Check()
	}
	if err := check(); err != nil {
		t.Error(err)
	}
	r.cfg.SecretFile = filepath.Join(t.TempDir(), "none")
	r.cfg.TokenFile = write(t, filepath.Join(t.TempDir(), "empty"), "\n")
	r.cfg.CertFile, r.cfg.KeyFile = r.cfg.SecretFile, r.cfg.SecretFile
	want := []string{r.cfg.SecretFile + ": no such file", r.cfg.TokenFile + " is empty", "read certificate: "}
	for _, part := range want {
		if err := check(); err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, part)
		}
	}
	r.cfg.CertFile, r.cfg.KeyFile = "", ""
	r.start()
	if code, _ := r.post("{}"); code != 401 {
		t.Errorf("answered %d", code)
	}
	if text := r.log.String(); !strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) || strings.Contains(text, `\n`) {
		t.Errorf("logged in several lines:\n%s", text)
	}
}

func TestManyPushesAtOnceAreOneLookAndOneMore(t *testing.T) {
	r := newRig(t).start()
	push := func() { r.post(githubPush, "X-GitHub-Event: push", "X-Hub-Signature-256: sha256="+sign(githubPush)) }
	push()
	<-r.looked // the first look is under way
	var all sync.WaitGroup
	for range 20 {
		all.Go(push)
	}
	all.Wait()
	if len(r.looked) != 0 {
		t.Error("a second look runs beside the first")
	}
	r.let <- struct{}{}
	<-r.looked // the one more
	r.let <- struct{}{}
	push() // after both: a new one
	<-r.looked
	close(r.let)
	if len(r.looked) != 0 {
		t.Errorf("%d looks more than wanted", len(r.looked))
	}
}

func TestAHugeBodyIsRefused(t *testing.T) {
	r := newRig(t).start()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, io.LimitReader(zeros{}, 500<<20))
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = 500 << 20
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("answered %s", resp.Status)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestOnlyPostsToItsPathAreAnswered(t *testing.T) {
	r := newRig(t).start()
	for _, c := range []struct {
		method, url string
		code        int
	}{{"GET", r.url, 405}, {"PUT", r.url, 405}, {"POST", r.url + "/x", 404}, {"GET", strings.TrimSuffix(r.url, "/hook"), 404}} {
		req, _ := http.NewRequestWithContext(t.Context(), c.method, c.url, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.code {
			t.Errorf("%s %s: %s", c.method, c.url, resp.Status)
		}
	}
}

func TestASecretIsReadAgain(t *testing.T) {
	r := newRig(t)
	close(r.let)
	r.start()
	write(t, r.cfg.SecretFile, "another")
	if code, _ := r.post("", "X-Gitlab-Token: "+secret); code != 401 {
		t.Errorf("the old secret: %d", code)
	}
	if code, _ := r.post("", "X-Gitlab-Token: another"); code != 202 {
		t.Errorf("the new secret: %d", code)
	}
	write(t, r.cfg.SecretFile, "\n") // an empty one opens nothing
	if code, _ := r.post("", "X-Hub-Signature-256: sha256="+hex.EncodeToString(hmac.New(sha256.New, nil).Sum(nil))); code != 401 {
		t.Errorf("signed with nothing: %d", code)
	}
}

func TestNoSecretNoListener(t *testing.T) {
	r := newRig(t)
	r.cfg.SecretFile, r.cfg.TokenFile = "", ""
	if _, err := New(r.cfg); err == nil {
		t.Error("accepted")
	}
}

func TestAnAddressThatIsTakenIsToldAndEndsNothing(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	r := newRig(t)
	told := make(chan error, 10)
	r.cfg.Address, r.cfg.State = taken.Addr().String(), func(_ string, err error) { told <- err }
	s, err := New(r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	if err := <-told; err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("told %v", err)
	}
	cancel()
	if err := <-ended; err != nil && ctx.Err() == nil {
		t.Error(err)
	}
}

func TestClientsThatSayNothingKeepNobodyOutForLong(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = limited(l, 1)
	first, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	held, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_ = conn.Close()
		}
		accepted <- err
	}()
	second, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if len(accepted) != 0 {
		t.Error("two are open")
	}
	_ = held.Close()
	_ = held.Close() // gives one slot back, not two
	if err := <-accepted; err != nil {
		t.Error(err)
	}
	go func() { _, err := l.Accept(); accepted <- err }()
	_ = l.Close()
	if err := <-accepted; err == nil {
		t.Error("accepts after its end")
	}
}

func TestHTTPSWithACertificateThatIsRenewed(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t)
	r.cfg.CertFile, r.cfg.KeyFile = filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	certify(t, r.cfg, "first")
	r.start()
	served := func() string {
		conn, err := tls.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/hook"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if name := served(); name != "first" {
		t.Errorf("serves %s", name)
	}
	certify(t, r.cfg, "the second")
	if name := served(); name != "the second" {
		t.Errorf("serves %s", name)
	}
	write(t, r.cfg.CertFile, "half")
	if name := served(); name != "the second" {
		t.Errorf("serves %s", name)
	}
}

// certify writes a certificate of that name.
func certify(t *testing.T, cfg Config, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, cfg.CertFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, cfg.KeyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs})))
}

func TestAddressesOfOneRepository(t *testing.T) {
	for _, same := range []string{
		"git@git.example:org/fleet.git", "ssh://git@git.example:2222/org/fleet.git", "https://me@git.example:8443/org/fleet",
		"https://GIT.example/Org/fleet.git/", "git.example:org/fleet",
	} {
		if got := address(same); got != "git.example/org/fleet" {
			t.Errorf("%s is %s", same, got)
		}
	}
	for _, other := range []string{"https://git.example/org/fleet2", "https://git2.example/org/fleet", "file:///org/fleet.git", "https://git.example/fleet"} {
		if got := address(other); got == "git.example/org/fleet" {
			t.Errorf("%s is taken for it", other)
		}
	}
}

func TestWhichPushMovesARef(t *testing.T) {
	p := push{ref: "refs/heads/main", commits: []string{"0123456789abcdef", "fedcba9876543210"}}
	for ref, want := range map[string]bool{
		"": true, "main": true, "refs/heads/main": true, "dev": false, "v1": false,
		"FEDCBA9": true, "fedcba9876543210": true, "abcdef0": false, "fedcb": false,
	} {
		if p.moves(ref) != want {
			t.Errorf("ref %q: %v", ref, !want)
		}
	}
}

func TestRefusalsAreLoggedOnceInAWhile(t *testing.T) {
	l, now := limiter{every: time.Minute}, time.Unix(1000, 0)
	for i, c := range []struct {
		after  time.Duration
		before int64
		ok     bool
	}{{0, 0, true}, {time.Second, 0, false}, {59 * time.Second, 0, false}, {time.Minute, 2, true}} {
		if before, ok := l.allow(now.Add(c.after)); before != c.before || ok != c.ok {
			t.Errorf("%d: %d, %v", i, before, ok)
		}
	}
}
