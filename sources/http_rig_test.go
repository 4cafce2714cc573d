package sources

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// httpRig is a running HTTP source, its server, and what a receiver learned.
type httpRig struct {
	listener
	server *httptest.Server
	cfg    HTTPConfig

	mu       sync.Mutex // of the server's side
	handle   http.HandlerFunc
	requests []*http.Request
}

// newHTTPRig starts a server, of TLS if it is given a certificate.
func newHTTPRig(t *testing.T, certificates ...tls.Certificate) *httpRig {
	t.Helper()
	r := &httpRig{listener: listener{t: t, log: &logBook{}}}
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.server.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(r.log, nil), slog.LevelDebug)
	if len(certificates) > 0 {
		r.server.TLS = &tls.Config{Certificates: certificates}
		r.server.StartTLS()
	} else {
		r.server.Start()
	}
	t.Cleanup(r.server.Close)
	r.cfg = HTTPConfig{
		Name: "web", URL: r.server.URL + "/pods", Interval: time.Hour, Node: testNode, UserAgent: "podstead/v0",
		Dir: filepath.Join(t.TempDir(), "web"), Logger: r.log.logger(),
	}
	r.answers(http.StatusOK, manifest("lamp", "on"))
	return r
}

func (r *httpRig) serve(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	r.requests = append(r.requests, request)
	handle := r.handle
	r.mu.Unlock()
	handle(w, request)
}

func (r *httpRig) handler(handle http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handle = handle
}

// answers sets the answer: a status, a body and headers.
func (r *httpRig) answers(status int, body string, headers ...string) {
	r.handler(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// raw answers with bytes of which the server's library has no say.
func (r *httpRig) raw(answer string) {
	r.handler(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			r.t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte(answer))
	})
}

// start runs the source until it has looked once, of its own accord.
func (r *httpRig) start() *httpRig {
	r.t.Helper()
	source, err := NewHTTP(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.listen(source)
	return r
}

// good looks and wants these pods.
func (r *httpRig) good(names ...string) Snapshot {
	r.t.Helper()
	s, err := r.look()
	if err != nil || !s.Live || !pods(names...).exactly(s) {
		r.t.Errorf("%v: want %v of %s\nlog:\n%s", err, names, describe(s), r.log)
	}
	return s
}

// bad looks and wants an error with these words, and the pods as they were.
func (r *httpRig) bad(words string, names ...string) Snapshot {
	r.t.Helper()
	s, err := r.look()
	if err == nil || !strings.Contains(err.Error(), words) || !pods(names...).exactly(s) {
		r.t.Errorf("error %v, want %q, and %v of %s", err, words, names, describe(s))
	}
	return s
}

func (r *httpRig) request(n int) *http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < 0 {
		n += len(r.requests)
	}
	return r.requests[n]
}

func (r *httpRig) wantChanges(want ...string) {
	r.t.Helper()
	if !slices.Equal(r.changes, want) {
		r.t.Errorf("changes %q, want %q\nlog:\n%s", r.changes, want, r.log)
	}
}

// file writes a file beside the source.
func (r *httpRig) file(name, content string) string {
	r.t.Helper()
	path := filepath.Join(filepath.Dir(r.cfg.Dir), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// authority signs certificates of servers.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// always are dates of certificates that hold at any time of the test's clock.
var always = [2]time.Time{time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: always[0], NotAfter: always[1],
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) pem() string { return pemOf("CERTIFICATE", a.cert.Raw) }

func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// sign makes a certificate for 127.0.0.1 and localhost, or for one other name.
func (a *authority) sign(dates [2]time.Time, name string) tls.Certificate {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"}, NotBefore: dates[0], NotAfter: dates[1],
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if name == "" {
		template.IPAddresses, template.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	} else {
		template.DNSNames = []string{name}
	}
	key := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// files are a certificate and its key as PEM.
func (a *authority) files(c tls.Certificate) (cert, key string) {
	a.t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	return pemOf("CERTIFICATE", c.Certificate[0]), pemOf("PRIVATE KEY", der)
}

// podList is a body with these pods.
func podList(names ...string) string {
	items := []string{}
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{"containers":[{"name":"main","image":"busybox:1.36"}]}}`, name))
	}
	return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",") + `]}`
}
