package gitrepo

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	uploadPack = "git-upload-pack"
	// maxSecret bounds the files of passwords, keys and certificates.
	maxSecret = 1 << 20
)

// httpLink speaks to a server over smart HTTP: each request stands alone.
type httpLink struct {
	client *http.Client
	base   string // URL of the repository, where redirects led
	origin *url.URL
	user   *url.Userinfo // nil for none; only for origin
}

// statusError is an HTTP status that is not 200.
type statusError struct {
	code   int
	signed bool // credentials were sent
	after  time.Duration
}

// RetryAfter is how long the server that an error comes from wants to be left
// alone; 0 if it does not say.
func RetryAfter(err error) time.Duration {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.after
	}
	return 0
}

// wait reads the header in which a server says so.
func wait(header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(time.Duration(seconds)*time.Second, 0)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.code, http.StatusText(e.code))
	switch {
	case !e.denied():
		return text
	case e.signed:
		return text + ": it refuses the credentials"
	}
	return text + ": it wants credentials, and none are configured"
}

func (e *statusError) denied() bool {
	return e.code == http.StatusUnauthorized || e.code == http.StatusForbidden
}

func (r *Repo) connectHTTP() (link, error) {
	origin, err := url.Parse(string(r.at.via) + "://" + hostPort(r.at) + r.at.path)
	if err != nil {
		return nil, errors.New("URL can't be parsed")
	}
	l := &httpLink{base: strings.TrimSuffix(origin.String(), "/"), origin: origin}
	if r.hello != nil {
		l.base = r.hello.base
	}
	if l.user, err = r.credentials(); err != nil {
		return nil, err
	}
	roots, err := r.roots()
	if err != nil {
		return nil, err
	}
	l.client = &http.Client{
		CheckRedirect: l.mayFollow,
		Transport: &http.Transport{
			Proxy:                  proxy,
			DialContext:            r.dial,
			TLSClientConfig:        &tls.Config{RootCAs: roots, ClientSessionCache: r.sessions, MinVersion: tls.VersionTLS12},
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
	return l, nil
}

func proxy(request *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(request)
	if err != nil { // it repeats the variable, password and all
		return nil, errors.New("the environment's HTTP_PROXY or HTTPS_PROXY is no URL")
	}
	return u, nil
}

func hostPort(a address) string {
	switch {
	case a.port != "":
		return net.JoinHostPort(a.host, a.port)
	case strings.Contains(a.host, ":"):
		return "[" + a.host + "]"
	}
	return a.host
}

// credentials are read anew for each visit: tokens are rotated.
func (r *Repo) credentials() (*url.Userinfo, error) {
	if r.cfg.PasswordFile == "" {
		if r.at.user == "" {
			return nil, nil
		}
		return url.UserPassword(r.at.user, ""), nil // a token may stand as the user
	}
	secret, err := readSecret(r.cfg.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("read passwordFile: %w", err)
	}
	user := r.at.user
	if user == "" {
		user = "git" // hosts that take tokens take any name with them
	}
	return url.UserPassword(user, strings.TrimRight(string(secret), "\r\n")), nil
}

func (r *Repo) roots() (*x509.CertPool, error) {
	if r.cfg.CAFile == "" {
		return nil, nil // the system's
	}
	data, err := readSecret(r.cfg.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read caFile: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("read caFile: it holds no certificate in PEM")
	}
	return pool, nil
}

// readSecret reads a small file and names it in no error twice.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxSecret:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxSecret)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, fmt.Errorf("%s is empty", path)
	}
	return data, nil
}

func (l *httpLink) lasting() bool { return false }
func (l *httpLink) close()        { l.client.CloseIdleConnections() }

// mayFollow lets the first request be led elsewhere, never from https to http.
func (l *httpLink) mayFollow(next *http.Request, before []*http.Request) error {
	switch {
	case before[0].Method != http.MethodGet:
		return http.ErrUseLastResponse
	case len(before) > 5:
		return errors.New("the server redirects more than 5 times")
	case next.URL.Scheme != "https" && l.origin.Scheme == "https":
		return errors.New("the server redirects from https to something else")
	}
	next.Header.Del("Authorization")
	l.sign(next)
	return nil
}

// sign adds the credentials where they belong: to the host of the configured URL.
func (l *httpLink) sign(request *http.Request) bool {
	if l.user == nil || request.URL.Scheme != l.origin.Scheme || request.URL.Host != l.origin.Host {
		return false
	}
	secret, _ := l.user.Password()
	request.SetBasicAuth(l.user.Username(), secret)
	return true
}

// greet asks for capabilities, and notes where the server redirects to.
func (l *httpLink) greet(ctx context.Context) (answer, error) {
	const path = "/info/refs"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.base+path+"?service="+uploadPack, nil)
	if err != nil {
		return answer{}, errors.New("URL can't be parsed")
	}
	a, end, err := l.send(request, "advertisement")
	if err != nil {
		return answer{}, err
	}
	end.RawQuery = ""
	if base, ok := strings.CutSuffix(end.String(), path); ok {
		l.base = base
	}
	return a, nil
}

func (l *httpLink) ask(ctx context.Context, body []byte) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+"/"+uploadPack, bytes.NewReader(body))
	if err != nil {
		return answer{}, errors.New("URL can't be parsed")
	}
	request.Header.Set("Content-Type", "application/x-"+uploadPack+"-request")
	a, _, err := l.send(request, "result")
	return a, err
}

// send returns the answer and where it came from in the end.
func (l *httpLink) send(request *http.Request, kind string) (answer, url.URL, error) {
	want := "application/x-" + uploadPack + "-" + kind
	request.Header.Set("Accept", want)
	request.Header.Set("User-Agent", "git/podstead") // hosts tell git from browsers by it
	request.Header.Set("Git-Protocol", "version=2")
	signed := l.sign(request)
	response, err := l.client.Do(request)
	if err != nil {
		return answer{}, url.URL{}, withoutURL(err)
	}
	got, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	switch {
	case response.StatusCode != http.StatusOK:
		err = &statusError{code: response.StatusCode, signed: signed, after: wait(response.Header, time.Now())}
	case got != want:
		err = fmt.Errorf("%w: content type %q instead of %s", errProtocol, printable(got), want)
	default:
		return answer{newPktReader(response.Body), response.Body}, *response.Request.URL, nil
	}
	return answer{}, url.URL{}, errors.Join(err, response.Body.Close())
}

// withoutURL drops the URL that net/http puts into its errors: one that a server
// redirected to may hold a token.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	if errors.Is(err, errSilent) {
		return errSilent
	}
	return err
}
