package gitrepo

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantLogin lets only ada with the password through, and says no in words that
// repeat what came.
func wantLogin(user, password string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		u, p, _ := r.BasicAuth()
		if u == user && p == password {
			return false
		}
		http.Error(w, "go away "+u+":"+p, http.StatusUnauthorized)
		return true
	}
}

func TestTokenIsSentAndNeverShown(t *testing.T) {
	const token = "tok-3f9a"
	f := newForge(t)
	f.write("a.yaml", "a")
	f.push("first")
	h := f.serve()
	h.intercept(wantLogin("org", token))
	file := writeFile(t, token+"\n")
	url := strings.Replace(h.url(), "http://", "http://org@", 1)
	r := newRepo(t, url, func(cfg *Config) { cfg.PasswordFile = file })
	mustLook(t, r, "main", everything())
	if strings.Contains(r.Shown(), "org") {
		t.Errorf("shown as %s", r.Shown())
	}
	if err := os.WriteFile(file, []byte("tok-rotated"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := look(t, r, "main", everything())
	wantError(t, err, "401 Unauthorized", "refuses the credentials")
	if strings.Contains(err.Error(), "tok-") || strings.Contains(err.Error(), "org") {
		t.Errorf("the error shows a secret: %v", err)
	}
	h.intercept(wantLogin("org", "tok-rotated"))
	mustLook(t, r, "main", everything())
	_, err = look(t, newRepo(t, h.url()), "main", everything())
	wantError(t, err, "wants credentials, and none are configured")
	h.intercept(wantLogin("git", "tok-rotated"))
	mustLook(t, newRepo(t, h.url(), func(cfg *Config) { cfg.PasswordFile = file }), "main", everything())
	_, err = look(t, newRepo(t, h.url(), func(cfg *Config) { cfg.PasswordFile = file + "-gone" }), "main", everything())
	wantError(t, err, "read passwordFile", "no such file")
}

func TestCredentialsStayWithTheHost(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	f.push("first")
	target, door := f.serve(), f.serve()
	door.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, target.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
		return true
	})
	file := writeFile(t, "secret")
	r := newRepo(t, door.url(), func(cfg *Config) { cfg.Username, cfg.PasswordFile = "ada", file })
	mustLook(t, r, "main", everything())
	for _, seen := range target.take() {
		if seen.auth != "" {
			t.Errorf("another host got credentials: %+v", seen)
		}
	}
	if door.take()[0].auth == "" {
		t.Error("the host itself got none")
	}
	door.take()
	mustLook(t, r, "main", everything())
	if n, m := len(door.take()), len(target.take()); n != 0 || m != 1 {
		t.Errorf("where the door leads to is not remembered: %d requests there, %d behind it", n, m)
	}
	target.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	_, err := look(t, r, "main", everything())
	if wantError(t, err, "429 Too Many Requests"); RetryAfter(err) != 2*time.Minute {
		t.Errorf("retry after %v", RetryAfter(err))
	}

	door.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, door.URL+r.URL.RequestURI()+"&token=secret", http.StatusFound)
		return true
	})
	_, err = look(t, newRepo(t, door.url()), "main", everything())
	wantError(t, err, "redirects more than 5 times")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error shows a secret: %v", err)
	}
}

func TestServerThatChangesItsMind(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	commit := f.push("first")
	h := f.serve()
	r := newRepo(t, h.url())
	for _, old := range []bool{false, true, false} {
		h.intercept(nil)
		if old {
			h.intercept(onlyOld)
		}
		if got := mustLook(t, r, "main", everything()); got.Commit.Hash != commit {
			t.Errorf("read %s", got.Commit.Hash)
		}
	}
}

func TestAnswersThatAreNotGits(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		{"not found", http.NotFound, "404 Not Found"},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<html>log in</html>")
		}, `content type "text/html"`},
		{"the dumb protocol", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
		}, "not git's protocol"},
		{"nothing", advertise(""), "ends too early"},
		{"half a line", advertise("001e# service=git-up"), "ends too early"},
		{"no lines", advertise("zzzzhello"), "not git's protocol"},
		{"an error", advertise("0019ERR no \x1b[31msuch repo"), "the server says: no [31msuch repo"},
		{"sha256", advertise("000eversion 2\n0019object-format=sha256\n0000"), "object format is sha256"},
		{"no shallow fetches", advertise("000eversion 2\n000afetch\n0000"), "without its history"},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			advertise("000eversion 2\n")(w, r)
			for range 2000 {
				_, _ = io.WriteString(w, "0008abc\n")
			}
		}, "not git's protocol"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(c.answer))
			defer server.Close()
			_, err := look(t, newRepo(t, server.URL+"/repo.git"), "main", everything())
			wantError(t, err, c.want)
		})
	}
}

func advertise(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = io.WriteString(w, text)
	}
}

// listen accepts connections and lets serve do with them what it likes.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var conns []net.Conn
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, conn)
			go serve(conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
	return l.Addr().String()
}

func TestServersThatHang(t *testing.T) {
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	drip := func(conn net.Conn) {
		if _, err := conn.Read(make([]byte, 4096)); err != nil {
			return
		}
		head := "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nContent-Length: 100000\r\n\r\n"
		if _, err := io.WriteString(conn, head); err != nil {
			return
		}
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for text := "0fff"; ; text += "x" { // a long line
			<-tick.C
			if _, err := conn.Write([]byte{text[len(text)-4]}); err != nil {
				return
			}
		}
	}
	key := writeFile(t, testKey(t))
	for _, c := range []struct {
		name string
		url  string
		want string
	}{
		{"http, silent", "http://" + listen(t, silent) + "/r.git", "the server sends nothing"},
		{"http, a byte now and then", "http://" + listen(t, drip) + "/r.git", "not done within 1s"},
		{"ssh, silent", "ssh://git@" + listen(t, silent) + "/r.git", "the server sends nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := func(cfg *Config) {
				cfg.IdleTimeout, cfg.ResolveTimeout = 300*time.Millisecond, time.Second
				if strings.HasPrefix(c.url, "ssh") {
					cfg.KeyFile, cfg.KnownHostsFile = key, writeFile(t, "")
				}
			}
			began := time.Now()
			_, err := look(t, newRepo(t, c.url, settings), "main", everything())
			wantError(t, err, c.want)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			v := newRepo(t, c.url, settings, func(cfg *Config) { cfg.IdleTimeout, cfg.ResolveTimeout = time.Minute, time.Minute }).Visit()
			defer v.Close()
			began = time.Now()
			if _, err := v.Resolve(ctx, "main"); !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the end of ctx took %v", took)
			}
		})
	}
}

func TestServerThatIsGone(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	f.push("first")
	h := f.serve()
	r := newRepo(t, h.url())
	mustLook(t, r, "main", everything())
	h.CloseClientConnections()
	h.Close()
	_, err := look(t, r, "main", everything())
	wantError(t, err, "ask for ref main: dial "+h.Listener.Addr().String()+": connect: connection refused")
	_, err = look(t, newRepo(t, "/nowhere/repo.git"), "main", everything())
	wantError(t, err, "no such file")
	_, err = look(t, newRepo(t, t.TempDir()), "main", everything())
	wantError(t, err, "the server says: fatal:", "does not appear to be a git repository")
}

func TestMissingGitProgramIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := look(t, newRepo(t, t.TempDir()), "main", everything())
	wantError(t, err, "git program, which is not installed")
}

func TestCertificates(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	f.push("first")
	h := &hub{}
	h.Server = httptest.NewTLSServer(h.handler(f))
	h.Config.ErrorLog = nil
	t.Cleanup(h.Close)
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	r := newRepo(t, h.url(), func(cfg *Config) { cfg.CAFile = writeFile(t, string(own)) })
	mustLook(t, r, "main", everything())
	_, err := look(t, newRepo(t, h.url()), "main", everything())
	wantError(t, err, "certificate")
	_, err = look(t, newRepo(t, h.url(), func(cfg *Config) { cfg.CAFile = writeFile(t, "hello") }), "main", everything())
	wantError(t, err, "read caFile", "no certificate")
	h.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "http://127.0.0.1:1/repo.git", http.StatusFound)
		return true
	})
	_, err = look(t, newRepo(t, h.url(), func(cfg *Config) { cfg.CAFile = writeFile(t, string(own)) }), "main", everything())
	wantError(t, err, "redirects from https to something else")
}
