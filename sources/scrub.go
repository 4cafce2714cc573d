package sources

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// shownURL is a URL as users may see it: without user and password, and without
// its query, which may hold a token.
func shownURL(u *url.URL) string {
	v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if u.RawQuery != "" || u.ForceQuery {
		return v.String() + "?…"
	}
	return v.String()
}

// scrubber takes secrets out of texts that came from elsewhere.
type scrubber struct {
	replace *strings.Replacer
}

// shortestSecret is the length from which a secret is told from a common word:
// taking "1" or "yes" out would make nonsense of every text.
const shortestSecret = 4

// newScrubber knows the secrets, and how they look in a URL and in basic
// authentication.
func newScrubber(secrets ...string) scrubber {
	var all []string
	for _, s := range secrets {
		if len(s) < shortestSecret {
			continue
		}
		all = append(all, s, url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s)))
		if scheme, rest, ok := strings.Cut(s, " "); ok && scheme != "" && len(rest) >= shortestSecret { // Bearer …
			all = append(all, rest)
		}
	}
	// The longest first: of two that begin alike the shorter would leave a rest.
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, s := range slices.Compact(all) {
		pairs = append(pairs, s, "…")
	}
	return scrubber{strings.NewReplacer(pairs...)}
}

// line is the text without secrets and control characters, on one line and cut
// to a number of runes.
func (s scrubber) line(text string, limit int) string {
	text = strings.ToValidUTF8(s.replace.Replace(text), "\uFFFD")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
