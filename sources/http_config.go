package sources

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// check fills in defaults, or lists all that is wrong. No error repeats a value
// that may be a secret.
func (cfg HTTPConfig) check() (*httpSettings, error) {
	s := &httpSettings{HTTPConfig: cfg}
	if s.UserAgent == "" {
		s.UserAgent = "podstead"
	}
	var errs []error
	if cfg.Name == "" {
		errs = append(errs, errors.New("a name is needed"))
	}
	var err error
	s.url, err = checkURL(cfg.URL)
	errs = append(errs, err)
	if cfg.Proxy != "" {
		s.proxy, err = checkProxy(cfg.Proxy)
		errs = append(errs, err)
	}
	s.removal, err = parseMaxRemoval(cfg.MaxRemoval)
	errs = append(errs, err, s.UnsupportedKinds.check(), s.Policy.check())
	errs = append(errs, s.checkBounds()...)
	errs = append(errs, checkHeaders(cfg.Headers)...)
	s.Headers = canonical(cfg.Headers)
	errs = append(errs, s.checkLogins()...)
	s.UnsupportedKinds = cmp.Or(s.UnsupportedKinds, UnsupportedWarn)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("configure http source %s: %w", cfg.Name, err)
	}
	return s, nil
}

// checkURL reads the URL. The parser's error repeats it, password and all, so
// that is left out.
func checkURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return nil, errors.New("a URL is needed")
	case err != nil:
		return nil, errors.New("the URL can't be read: is something in it to be escaped?")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("the URL begins with %q, not with http:// or https://", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("the URL names no host")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

func checkProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) || u.Hostname() == "" {
		return nil, errors.New("the proxy is no URL of http, https or socks5")
	}
	return u, nil
}

func (s *httpSettings) checkBounds() (errs []error) {
	if s.Interval < 0 {
		errs = append(errs, fmt.Errorf("interval %v is negative", s.Interval))
	}
	if s.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout %v is negative", s.Timeout))
	}
	if s.IdleTimeout < 0 {
		errs = append(errs, fmt.Errorf("idle timeout %v is negative", s.IdleTimeout))
	}
	if s.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("limit of %d bytes is negative", s.MaxBytes))
	}
	s.Interval = orDefault(s.Interval, DefaultHTTPInterval)
	s.Timeout = orDefault(s.Timeout, DefaultHTTPTimeout)
	s.IdleTimeout = orDefault(s.IdleTimeout, DefaultHTTPIdleTimeout)
	s.MaxBytes = orDefault(s.MaxBytes, DefaultHTTPBytes)
	return errs
}

func (s *httpSettings) checkLogins() (errs []error) {
	ways := 0
	for _, used := range []bool{
		s.url != nil && s.url.User != nil, s.User != "" || s.PasswordFile != "",
		s.TokenFile != "", len(s.Headers.Values("Authorization")) > 0,
	} {
		if used {
			ways++
		}
	}
	if ways > 1 {
		errs = append(errs, errors.New("of user in the URL, user with password file, token file and header Authorization there can be one"))
	}
	if (s.User == "") != (s.PasswordFile == "") {
		errs = append(errs, errors.New("user and password file need each other"))
	}
	if (s.CertFile == "") != (s.KeyFile == "") {
		errs = append(errs, errors.New("certificate file and key file need each other"))
	}
	if s.url != nil && s.url.Scheme == "http" && (s.CAFile != "" || s.CertFile != "") {
		errs = append(errs, errors.New("certificates are of no use: the URL begins with http://"))
	}
	return errs
}

// checkHeaders refuses what no request can carry, and what the source says
// itself: the answer would be misread.
func checkHeaders(headers http.Header) (errs []error) {
	for name, values := range headers {
		switch sent := http.CanonicalHeaderKey(name); {
		case name == "" || strings.ContainsFunc(name, noToken):
			errs = append(errs, fmt.Errorf("header name %q is not one", name))
		case slices.Contains(ownHeaders(), sent):
			errs = append(errs, fmt.Errorf("header %s can't be set", sent))
		}
		if slices.ContainsFunc(values, func(v string) bool { return strings.ContainsFunc(v, noHeaderText) }) {
			errs = append(errs, fmt.Errorf("a value of header %s holds a control character", name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// canonical is a copy with names as they are sent.
func canonical(headers http.Header) http.Header {
	all := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for _, value := range headers[name] {
			all.Add(name, value)
		}
	}
	return all
}

// ownHeaders are those that decide how an answer is to be read.
func ownHeaders() []string {
	return []string{
		"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range", "Accept-Encoding",
		"Connection", "Content-Length", "Expect", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}
}

// noToken is true of what RFC 9110 allows in no name of a header.
func noToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

func noHeaderText(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func orDefault[T ~int64](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}
