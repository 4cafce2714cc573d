package gitrepo

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// onFetch lets answer say what is said to a request for objects, which it is
// given.
func onFetch(h *hub, answer func(w http.ResponseWriter, r *http.Request, asked string) bool) {
	h.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if !strings.Contains(string(body), "command=fetch") {
			return false
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		return answer(w, r, string(body))
	})
}

// A connection that broke says nothing of the store: over a bad line, beginning
// again with everything would never come to an end.
func TestTransferThatBreaksIsNotBegunAgainInFull(t *testing.T) {
	const begin = "000dpackfile\n"
	data := "0105\x01PACK" + strings.Repeat("x", 0x105-9)
	for _, c := range []struct {
		name   string
		answer string
		status int
		silent bool
		want   string
	}{
		{name: "refused", status: http.StatusServiceUnavailable, want: "503 Service Unavailable"},
		{name: "before the pack", want: "ends too early"},
		{name: "in the first packet", answer: begin + data[:50], want: "ends too early"},
		{name: "in the pack", answer: begin + data, want: "ends too early"},
		{name: "the server gives up", answer: begin + data + "000c\x03oh dear", want: "the server says: oh dear"},
		{name: "the server falls silent", answer: begin + data, silent: true, want: "the server sends nothing"},
		{name: "what comes is no pack", answer: begin + data + "0000", want: "can't be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newForge(t)
			f.write("a.yaml", "1")
			f.push("first")
			h := f.serve()
			r := newRepo(t, h.url(), func(cfg *Config) { cfg.IdleTimeout = 500 * time.Millisecond })
			mustLook(t, r, "main", everything())
			f.write("a.yaml", "2")
			f.push("second")
			onFetch(h, func(w http.ResponseWriter, r *http.Request, _ string) bool {
				if c.status != 0 {
					w.WriteHeader(c.status)
				}
				_, _ = io.WriteString(w, c.answer)
				if c.silent {
					_ = http.NewResponseController(w.(*countedWriter).ResponseWriter).Flush()
					<-r.Context().Done()
				}
				return true
			})
			h.take()
			got, err := look(t, r, "main", everything())
			wantError(t, err, c.want)
			h.CloseClientConnections() // and so wait for the one that is silent
			if asked := h.take(); len(asked) > 2 || got.Renewed != "" {
				t.Errorf("asked %v, renewed %q", asked, got.Renewed)
			}
			h.intercept(nil)
			if got := mustLook(t, r, "main", everything()); texts(got)["a.yaml"] != "2" || got.Renewed != "" {
				t.Errorf("read %v, renewed %q", texts(got), got.Renewed)
			}
		})
	}
}

func TestServerThatDoesNotBuildOnTheStore(t *testing.T) {
	f := newForge(t)
	f.write("a.yaml", "1")
	f.push("first")
	h := f.serve()
	r := newRepo(t, h.url())
	mustLook(t, r, "main", everything())
	f.write("a.yaml", "2")
	f.push("second")
	refuse := func(w http.ResponseWriter, _ *http.Request, asked string) bool {
		if strings.Contains(asked, "have ") {
			_, _ = fmt.Fprint(w, "0014ERR unknown have")
			return true
		}
		return false
	}
	onFetch(h, refuse)
	if got := mustLook(t, r, "main", everything()); texts(got)["a.yaml"] != "2" || got.Renewed != "the server says: unknown have" {
		t.Errorf("read %v, renewed %q", texts(got), got.Renewed)
	}
}
