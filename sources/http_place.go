package sources

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxRedirects is how often an answer may point elsewhere.
	maxRedirects = 10
	// trustModified is how long an answer 304 is believed that rests on a date
	// alone: many servers say "not modified" to any file that is older than what
	// they sent before, so one that was put back would never be seen.
	trustModified = 5 * time.Minute
	// errorLength bounds the text of an error in runes, lineLength that of a line
	// of a body in it.
	errorLength = 500
	lineLength  = 80
)

// The keys of an HTTP source's mark.
const (
	markETag     = "etag"
	markModified = "lastModified"
	markURL      = "url"   // digest of the URL that answered, after redirects
	markAsked    = "asked" // digest of the question
)

// httpPlace is the place of an HTTP source. One goroutine uses it.
type httpPlace struct {
	*httpSettings
	idle      *silence
	transport *http.Transport // nil before the first look
	made      digest          // of the files that the transport was made of
	whole     time.Time       // when a whole set was sent last
	detour    string          // where the last answer came from, if not from the URL; "" if from it
}

func newHTTPPlace(s *httpSettings) *httpPlace {
	return &httpPlace{httpSettings: s, idle: &silence{limit: s.IdleTimeout}}
}

// close ends the connection that is kept, and a dial that nobody waits for.
func (p *httpPlace) close() {
	if p.transport != nil {
		p.transport.CloseIdleConnections()
	}
}

// look implements place.
func (p *httpPlace) look(ctx context.Context, accepted mark) (answer, error) {
	files, err := p.readFiles()
	if err != nil {
		return answer{}, err
	}
	if err := p.connect(files); err != nil {
		return answer{}, err
	}
	watched, stop := p.idle.watch(ctx)
	defer stop()
	l := &httpLook{httpPlace: p, files: files, accepted: p.usable(accepted), at: p.url, home: true, scrub: p.scrubber(files)}
	a, err := l.run(watched)
	if err == nil {
		p.follow(&a, l)
		return a, nil
	}
	p.close()
	if errors.Is(context.Cause(watched), errSilent) {
		err = fmt.Errorf("has sent nothing for %v", p.IdleTimeout)
	}
	if l.at != p.url {
		err = fmt.Errorf("redirected to %s: %w", shownURL(l.at), err)
	}
	return a, errors.New(l.scrub.line(err.Error(), errorLength))
}

// follow notes an answer, and says when it comes from elsewhere than before.
func (p *httpPlace) follow(a *answer, l *httpLook) {
	if !a.unchanged {
		p.whole = time.Now()
	}
	detour := ""
	if l.at != p.url {
		detour = shownURL(l.at)
	}
	switch {
	case detour == p.detour:
	case detour != "":
		a.note = "redirected to " + detour
	default:
		a.note = "redirected no more"
	}
	p.detour = detour
}

// connect makes a transport of what the files hold now.
func (p *httpPlace) connect(files httpFiles) error {
	sum := files.tlsSum()
	if p.transport != nil && sum == p.made {
		return nil
	}
	transport, err := p.newTransport(files, p.idle)
	if err != nil {
		return err
	}
	p.close()
	p.transport, p.made = transport, sum
	return nil
}

// usable is the mark if it belongs to the question that is asked now and is still
// to be trusted.
func (p *httpPlace) usable(accepted mark) mark {
	switch {
	case accepted[markAsked] != p.asked().full():
		return nil
	case accepted[markETag] == "" && time.Since(p.whole) > trustModified:
		return nil
	}
	return accepted
}

// scrubber knows all that must not be shown.
func (p *httpPlace) scrubber(files httpFiles) scrubber {
	secrets := []string{files.token, files.password, p.url.RawQuery}
	for name, values := range p.Headers {
		if !slices.Contains([]string{"Accept", "Accept-Language", "Host", "User-Agent"}, name) {
			secrets = append(secrets, values...)
		}
	}
	for _, values := range p.url.Query() {
		secrets = append(secrets, values...)
	}
	if password, ok := p.url.User.Password(); ok {
		secrets = append(secrets, password, p.url.User.Username()+":"+password)
	}
	if p.proxy != nil {
		if password, ok := p.proxy.User.Password(); ok {
			secrets = append(secrets, password)
		}
	}
	if p.User != "" {
		secrets = append(secrets, p.User+":"+files.password)
	}
	return newScrubber(secrets...)
}

// httpLook is one look: a request, and one more for each redirect.
type httpLook struct {
	*httpPlace
	files    httpFiles
	accepted mark
	at       *url.URL
	home     bool // no redirect has led to another host
	scrub    scrubber
}

func (l *httpLook) run(ctx context.Context) (answer, error) {
	for range maxRedirects + 1 {
		response, err := l.transport.RoundTrip(l.request(ctx))
		if err != nil {
			return answer{}, l.explain(err)
		}
		next, err := redirect(response)
		if next == nil {
			a, err := l.read(response, err)
			_ = response.Body.Close() // what counts of it was read
			return a, err
		}
		_ = response.Body.Close()
		if err := l.goTo(next); err != nil {
			return answer{}, err
		}
	}
	return answer{}, fmt.Errorf("more than %d redirects", maxRedirects)
}

// explain names the proxy where it is the one that can't be reached.
func (l *httpLook) explain(err error) error {
	var exchange *net.OpError
	if !errors.As(err, &exchange) || exchange.Op != "proxyconnect" {
		return explain(err)
	}
	proxy, wrong := l.proxyFor(&http.Request{URL: l.at})
	if wrong != nil || proxy == nil {
		return explain(err)
	}
	return fmt.Errorf("proxy %s: %w", shownURL(proxy), explain(exchange.Err))
}

// request is what is asked at this hop. Only the URL's own host is told who asks.
func (l *httpLook) request(ctx context.Context) *http.Request {
	r := (&http.Request{Method: http.MethodGet, URL: l.at, Host: l.at.Host, Header: http.Header{}}).WithContext(ctx)
	r.Header.Set("Accept", "application/yaml, application/x-yaml, application/json, text/plain;q=0.9, */*;q=0.8")
	r.Header.Set("User-Agent", l.UserAgent)
	if l.conditional() {
		setIf(r.Header, "If-None-Match", l.accepted[markETag])
		setIf(r.Header, "If-Modified-Since", l.accepted[markModified])
	}
	if !l.home {
		return r
	}
	for name, values := range l.Headers {
		r.Header[name] = values
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
		r.Header.Del("Host")
	}
	l.login(r)
	return r
}

func (l *httpLook) login(r *http.Request) {
	switch user := l.url.User; {
	case l.files.token != "":
		r.Header.Set("Authorization", "Bearer "+l.files.token)
	case l.User != "":
		r.SetBasicAuth(l.User, l.files.password)
	case user != nil:
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
}

// conditional is true where the server is asked for what has changed. A
// validator belongs to the URL that gave it.
func (l *httpLook) conditional() bool {
	return l.accepted[markURL] == sumURL(l.at) && l.accepted[markETag]+l.accepted[markModified] != ""
}

func setIf(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// redirect is where an answer points, nil if it points nowhere.
func redirect(response *http.Response) (*url.URL, error) {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := response.Header.Get("Location")
	if location == "" {
		return nil, fmt.Errorf("%s without a place to go to", statusOf(response))
	}
	next, err := response.Request.URL.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%s to what is no URL", statusOf(response))
	}
	return next, nil
}

// goTo follows a redirect. Whoever has left the URL's host stays a stranger, also
// when it leads back; what was asked for in private is not asked for in public.
func (l *httpLook) goTo(next *url.URL) error {
	next.User, next.Fragment, next.RawFragment = nil, "", ""
	switch {
	case next.Scheme != "http" && next.Scheme != "https" || next.Hostname() == "":
		return fmt.Errorf("redirected to %q, which is neither http:// nor https://", next.Scheme)
	case l.at.Scheme == "https" && next.Scheme == "http":
		return fmt.Errorf("redirected from https to %s, which is not followed", shownURL(next))
	}
	l.home = l.home && sameHost(l.at, next)
	l.at = next
	return nil
}

// sameHost allows for the step from http to https at their usual ports.
func sameHost(from, to *url.URL) bool {
	return strings.EqualFold(from.Hostname(), to.Hostname()) &&
		(port(from) == port(to) && from.Scheme == to.Scheme || port(from) == "80" && port(to) == "443" && to.Scheme == "https")
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

func statusOf(response *http.Response) string {
	return strings.TrimSpace("HTTP " + strconv.Itoa(response.StatusCode) + " " + http.StatusText(response.StatusCode))
}
