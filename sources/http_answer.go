package sources

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxETag is the length from which an ETag is not kept.
const maxETag = 1024

// read makes an answer of a response that points nowhere else.
func (l *httpLook) read(response *http.Response, err error) (answer, error) {
	a := answer{retryAfter: retryAfter(response.Header, time.Now())}
	switch {
	case err != nil:
		return a, err
	case response.StatusCode == http.StatusNotModified:
		if !l.conditional() {
			return a, fmt.Errorf("%s, without having been asked what has changed", statusOf(response))
		}
		a.unchanged = true
		return a, nil
	case response.StatusCode != http.StatusOK:
		return a, errors.New(statusOf(response))
	}
	body, err := l.body(response)
	if err != nil {
		return a, err
	}
	if err := l.misplaced(response, body); err != nil {
		return a, err
	}
	a.revision = l.scrub.line(strings.Trim(strings.TrimPrefix(response.Header.Get("ETag"), "W/"), `"`), lineLength)
	a.mark = l.mark(response.Header)
	a.files = []unitFile{{Name: shownURL(l.url), Data: body}}
	return a, nil
}

// body is the whole body or an error.
func (l *httpLook) body(response *http.Response) ([]byte, error) {
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, fmt.Errorf("sends Content-Encoding %s, which was not asked for", encoding)
	}
	// gzip ends with a checksum; otherwise there is a length, or the last chunk.
	if response.ContentLength < 0 && len(response.TransferEncoding) == 0 && !response.Uncompressed {
		return nil, errors.New("sends a body without its length: a part would pass for the whole")
	}
	if response.ContentLength > l.MaxBytes {
		return nil, l.tooLarge()
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, l.MaxBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the body broke off: %w", explain(err))
	case int64(len(data)) > l.MaxBytes:
		return nil, l.tooLarge()
	}
	return data, nil
}

func (l *httpLook) tooLarge() error {
	return fmt.Errorf("the body is larger than the limit of %d bytes", l.MaxBytes)
}

// misplaced names a body that was never meant to hold manifests: what a proxy or
// a login page says in the server's place.
func (l *httpLook) misplaced(response *http.Response, body []byte) error {
	text := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if len(body) == 0 {
		return fmt.Errorf("%s with an empty body: to run nothing, answer with an empty List", statusOf(response))
	}
	if len(text) == 0 || text[0] != '<' {
		return nil
	}
	line, _, _ := bytes.Cut(text[:min(len(text), 4096)], []byte("\n"))
	return fmt.Errorf("%s with %s in place of manifests: %q", statusOf(response), contentType(response.Header),
		l.scrub.line(strings.TrimSpace(string(line)), lineLength))
}

func contentType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind == "" {
		return "something"
	}
	return kind
}

// mark is what the next look may ask with. A date counts only if the server's
// clock was past it: within one second more could follow.
func (l *httpLook) mark(h http.Header) mark {
	m := mark{markURL: sumURL(l.at), markAsked: l.asked().full()}
	if tag := h.Get("ETag"); tag != "" && len(tag) <= maxETag && !strings.ContainsFunc(tag, noHeaderText) {
		m[markETag] = tag
	}
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	date, err2 := http.ParseTime(h.Get("Date"))
	if err == nil && err2 == nil && date.Sub(modified) > time.Second {
		m[markModified] = h.Get("Last-Modified")
	}
	return m
}

func sumURL(u *url.URL) string { return digest(sha256.Sum256([]byte(u.String()))).full() }

// retryAfter is how long the server wants to be left alone; 0 if it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(time.Duration(seconds)*time.Second, 0)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}
