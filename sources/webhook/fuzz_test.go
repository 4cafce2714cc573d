package webhook

import (
	"bytes"
	"net/http"
	"slices"
	"testing"
)

// FuzzPush: whatever is sent, it selects sources that are there, each once, the same
// ones every time; a git server's message that is not understood selects none, and
// what it selects it names.
func FuzzPush(f *testing.F) {
	github := `{"ref":"refs/heads/main","after":"0123456789abcdef","repository":{"clone_url":"https://git.example/org/fleet.git","ssh_url":"git@git.example:org/fleet.git"},"commits":[{"id":"0123456789abcdef"}]}`
	f.Add(uint8(0), "application/json", []byte(github))
	f.Add(uint8(1), "application/json", []byte(github))
	f.Add(uint8(2), "application/json; charset=utf-8", []byte(`{"object_kind":"tag_push","ref":"refs/tags/v1","project":{"git_http_url":"https://git.example/org/fleet.git"}}`))
	f.Add(uint8(3), "application/x-www-form-urlencoded", []byte("payload=%7B%22ref%22%3A%22refs%2Fheads%2Fmain%22%7D"))
	f.Add(uint8(4), "", []byte(`{"repository":{"url":"ssh://git@git.example:22/org/fleet"}}`))
	f.Add(uint8(0), "", []byte(nil))
	targets := []Target{
		{Name: "fleet", Git: true, URL: "https://git.example/org/fleet.git", Ref: "main"},
		{Name: "pinned", Git: true, URL: "git@git.example:org/fleet.git", Ref: "0123456"},
		{Name: "url", URL: "https://git.example/org/fleet.git"},
	}
	headers := eventHeaders()
	events := []string{"", "push", "Push Hook", "Tag Push Hook", "System Hook", "repo:push", "ping"}
	f.Fuzz(func(t *testing.T, kind uint8, contentType string, body []byte) {
		h := http.Header{"Content-Type": {contentType}}
		event := events[int(kind)%len(events)]
		h.Set(headers[int(kind)/len(events)%len(headers)], event)
		p := readPush(h, body)
		got := p.selects(targets)
		if again := readPush(h, bytes.Clone(body)).selects(targets); !slices.Equal(got, again) {
			t.Fatalf("%v, then %v", got, again)
		}
		for i, name := range got {
			if slices.Contains(got[:i], name) || !slices.ContainsFunc(targets, func(to Target) bool { return to.Name == name }) {
				t.Fatalf("selects %v", got)
			}
		}
		switch named := len(p.urls) > 0; {
		case event == "ping" && len(got) > 0:
			t.Fatalf("a ping selects %v", got)
		case event != "" && len(got) > 0 && !named:
			t.Fatalf("%s of no repository selects %v", event, got)
		case named && slices.Contains(got, "url"):
			t.Fatalf("the address of a repository selects a URL: %v", got)
		}
	})
}
