package gitrepo

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func newEd25519(t *testing.T) crypto.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// newRSA makes a key with the real program, which is faster at it than a test
// under the race detector.
func newRSA(t *testing.T) crypto.Signer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", path).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParseRawPrivateKey(data)
	if err != nil {
		t.Fatal(err)
	}
	return key.(crypto.Signer)
}

// encode writes a private key as ssh-keygen does.
func encode(t *testing.T, key crypto.Signer) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

// locked is the key with a passphrase that costs no more than it must.
func locked(t *testing.T, key crypto.Signer, passphrase string) string {
	t.Helper()
	path := writeFile(t, encode(t, key))
	out, err := exec.Command("ssh-keygen", "-q", "-p", "-a", "1", "-P", "", "-N", passphrase, "-f", path).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func testKey(t *testing.T) string { return encode(t, newEd25519(t)) }

// public is a key as authorized_keys and known_hosts have it.
func public(t *testing.T, key crypto.Signer) string {
	t.Helper()
	k, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
}

func fingerprint(t *testing.T, key crypto.Signer) string {
	t.Helper()
	k, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return ssh.FingerprintSHA256(k)
}

// sshd is a real one on loopback.
type sshd struct {
	addr    string
	ed, rsa crypto.Signer // host keys
	user    string
	userKey crypto.Signer
}

// startSSHD runs sshd with more settings, and ends it with the test.
func startSSHD(t *testing.T, settings ...string) *sshd {
	t.Helper()
	program := "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		t.Skip("sshd is not installed, which plays the server")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := &sshd{ed: newEd25519(t), rsa: newRSA(t), userKey: newEd25519(t), user: me.Username}
	if me.Uid == "0" { // what a root sshd drops to
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ed": encode(t, s.ed), "rsa": encode(t, s.rsa), "authorized": public(t, s.userKey) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.addr = freeAddress(t)
	_, port, _ := net.SplitHostPort(s.addr)
	lines := append([]string{
		"ListenAddress 127.0.0.1", "Port " + port, "HostKey " + dir + "/ed", "HostKey " + dir + "/rsa",
		"AuthorizedKeysFile " + dir + "/authorized", "StrictModes no", "PidFile none", "UsePAM no", "PermitRootLogin yes",
		"PasswordAuthentication no", "KbdInteractiveAuthentication no", "LogLevel ERROR",
	}, settings...)
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-D", "-e", "-f", config)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	waitFor(t, s.addr, &said)
	return s
}

// freeAddress is one that nobody listens on just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func waitFor(t *testing.T, addr string, said fmt.Stringer) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			return
		}
		<-tick.C
	}
	t.Fatalf("sshd does not listen: %s", said)
}

func (s *sshd) url(f *forge) string { return "ssh://" + s.user + "@" + s.addr + f.bare }

// known is a line of known_hosts.
func (s *sshd) known(t *testing.T, keys ...crypto.Signer) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.addr)
	text := "# ours\nother.example " + public(t, newEd25519(t)) + "\n"
	for _, key := range keys {
		text += "[" + host + "]:" + port + " " + public(t, key) + "\n"
	}
	return text
}

func TestSSH(t *testing.T) {
	f := newForge(t)
	f.write("pods/a.yaml", "a1")
	first := f.push("first")
	for _, c := range []struct {
		name     string
		settings []string
		keys     func(*sshd) []crypto.Signer
		v2       bool
	}{
		{"version 2", []string{"AcceptEnv GIT_PROTOCOL"}, func(s *sshd) []crypto.Signer { return []crypto.Signer{s.ed, s.rsa} }, true},
		{"version 0", nil, func(s *sshd) []crypto.Signer { return []crypto.Signer{s.ed} }, false},
		{"only the RSA key is known", nil, func(s *sshd) []crypto.Signer { return []crypto.Signer{s.rsa} }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startSSHD(t, c.settings...)
			hosts := writeFile(t, s.known(t, c.keys(s)...))
			if err := os.Chmod(hosts, 0o400); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(hosts)
			r := newRepo(t, s.url(f), func(cfg *Config) {
				cfg.KeyFile, cfg.PassphraseFile = writeFile(t, locked(t, s.userKey, "open sesame")), writeFile(t, "open sesame\n")
				cfg.KnownHostsFile = hosts
			})
			if got := mustLook(t, r, "main", within("pods")); got.Commit.Hash != first || texts(got)["pods/a.yaml"] != "a1" {
				t.Errorf("read %v of %s", texts(got), got.Commit.Hash)
			}
			if (r.hello != nil) != c.v2 {
				t.Errorf("spoke version 2: %v", r.hello != nil)
			}
			if after, _ := os.ReadFile(hosts); !bytes.Equal(before, after) {
				t.Error("known_hosts was written")
			}
		})
	}
}

func TestSSHRefusals(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "a")
	f.push("first")
	s := startSSHD(t, "AcceptEnv GIT_PROTOCOL")
	wrong := newEd25519(t)
	userKey := writeFile(t, encode(t, s.userKey))
	for _, c := range []struct {
		name  string
		url   string
		key   string
		phase string
		hosts string
		want  []string
	}{
		{name: "another key than the known one", hosts: s.known(t, wrong),
			want: []string{"not the one that is known", fingerprint(t, s.ed), fingerprint(t, wrong), ":3"}},
		{name: "unknown host", hosts: s.known(t),
			want: []string{"the server is not known", "[127.0.0.1]:", "SHA256:"}},
		{name: "no known_hosts", hosts: "-", want: []string{"known_hosts", "no such file"}},
		{name: "revoked", hosts: s.known(t, s.ed) + "@revoked * " + public(t, s.ed) + "\n", want: []string{"marked as revoked"}},
		{name: "another user key", key: writeFile(t, testKey(t)), want: []string{"refuses the key for user " + s.user}},
		{name: "no such key", key: "/nowhere/key", want: []string{"read sshKeyFile", "no such file"}},
		{name: "no key in it", key: writeFile(t, "hello"), want: []string{"no private key"}},
		{name: "encrypted", key: writeFile(t, locked(t, s.userKey, "secret")), want: []string{"no sshKeyPassphraseFile"}},
		{name: "wrong passphrase", key: writeFile(t, locked(t, s.userKey, "secret")), phase: writeFile(t, "y"), want: []string{"passphrase does not open it"}},
		{name: "no such repository", url: "ssh://" + s.user + "@" + s.addr + "/nowhere's.git",
			want: []string{"the server says: fatal:", "/nowhere's.git"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := func(cfg *Config) {
				cfg.KeyFile, cfg.PassphraseFile = userKey, c.phase
				if c.key != "" {
					cfg.KeyFile = c.key
				}
				hosts := c.hosts
				if hosts == "" {
					hosts = s.known(t, s.ed)
				}
				if cfg.KnownHostsFile = "/nowhere/known_hosts"; hosts != "-" {
					cfg.KnownHostsFile = writeFile(t, hosts)
				}
			}
			url := c.url
			if url == "" {
				url = s.url(f)
			}
			r := newRepo(t, url, cfg)
			_, err := look(t, r, "main", everything())
			wantError(t, err, c.want...)
			wantSame(t, r, err)
		})
	}
}
