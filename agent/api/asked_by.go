package api

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// maxAskedBy bounds the words for who asks, in letters.
const maxAskedBy = 100

// askedBy is who asks for something, by its own word: it is for people, in events,
// logs and statuses. Who may open the socket may do everything.
func askedBy(r *http.Request) string {
	printable := func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return -1
	}
	by := []rune(strings.TrimSpace(strings.Map(printable, r.URL.Query().Get("by"))))
	return cmp.Or(string(by[:min(len(by), maxAskedBy)]), "a client of the local API")
}

func byQuery(by string) url.Values { return url.Values{"by": {by}} }
