package sources

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestHTTPBodies(t *testing.T) {
	tests := []struct {
		name string
		body string
		want []string
	}{
		{"a pod", manifest("lamp", "on"), []string{"lamp-n1"}},
		{"many documents", "---\n" + manifest("lamp", "on") + "---\n# nothing\n---\n" + manifest("kiln", "on"), []string{"lamp-n1", "kiln-n1"}},
		{"a List", podList("lamp", "kiln"), []string{"lamp-n1", "kiln-n1"}},
		{"a PodList", strings.Replace(podList("lamp"), `"List"`, `"PodList"`, 1), []string{"lamp-n1"}},
		{"an empty List", podList(), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newHTTPRig(t)
			r.answers(http.StatusOK, tt.body)
			s := r.start().good(tt.want...)
			if len(s.Units) != 1 || s.Units[0].Name != r.cfg.URL || s.Place != r.cfg.URL || s.Kind != KindHTTP {
				t.Errorf("%s of %s: %+v", s.Kind, s.Place, s.Units)
			}
			for _, p := range s.Pods {
				if p.Annotations["kubernetes.io/config.source"] != "http" || p.Origin.Unit != r.cfg.URL || p.Origin.Source != "web" {
					t.Errorf("origin %+v, annotations %v", p.Origin, p.Annotations)
				}
			}
		})
	}
}

// What is no answer 200 with a whole body of manifests changes nothing, says
// why, and is over when a right answer comes.
func TestHTTPWhatIsNoSet(t *testing.T) {
	half := manifest("kiln", "on") + "---\n" + manifest("lamp", "on")[:40]
	tests := []struct {
		name   string
		status int
		body   string
		header []string
		raw    string
		says   string
	}{
		{name: "a login page", status: 200, body: "<html>Sign in</html>", header: []string{"Content-Type", "text/html; charset=utf-8"},
			says: `HTTP 200 OK with text/html in place of manifests: "<html>Sign in</html>"`},
		{name: "a page over many lines", status: 200, body: "\n<!DOCTYPE html>\x1b[31m\r\n<title>x</title>", header: []string{"Content-Type", ""},
			says: `with something in place of manifests: "<!DOCTYPE html>[31m"`},
		{name: "a long line", status: 200, body: "<p>" + strings.Repeat("ü", 200), says: `"<p>` + strings.Repeat("ü", 77) + `…"`},
		{name: "nothing", status: 200, header: []string{"ETag", `"new"`}, says: "HTTP 200 OK with an empty body"},
		{name: "a separator alone", status: 200, body: "---\n", says: "holds no manifest"},
		{name: "comments alone", status: 200, body: "# apiVersion: v1\n", says: "holds no manifest"},
		{name: "plain words", status: 200, body: "please log in", says: "not an object"},
		{name: "a pod at fault", status: 200, body: strings.Replace(manifest("kiln", "on"), "image", "imgae", 1), says: "imgae"},
		{name: "no content", status: 204, says: "HTTP 204 No Content"},
		{name: "a part", status: 206, body: manifest("kiln", "on"), says: "HTTP 206 Partial Content"},
		{name: "created", status: 201, body: manifest("kiln", "on"), says: "HTTP 201 Created"},
		{name: "not modified, unasked", status: 304, says: "HTTP 304 Not Modified, without having been asked"},
		{name: "moved to nowhere", status: 302, says: "HTTP 302 Found without a place to go to"},
		{name: "choices", status: 300, header: []string{"Location", "/other"}, says: "HTTP 300 Multiple Choices"},
		{name: "unauthorized", status: 401, body: manifest("kiln", "on"), says: "HTTP 401 Unauthorized"},
		{name: "gone", status: 404, body: "no", says: "HTTP 404 Not Found"},
		{name: "a server's error", status: 500, body: "{}", says: "HTTP 500 Internal Server Error"},
		{name: "a status of its own", status: 599, says: "HTTP 599"},
		{name: "less than the length", raw: fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(half)+100, half), says: "the body broke off: the connection was closed early"},
		{name: "chunks without the last", raw: fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(half), half), says: "the body broke off"},
		{name: "no length at all", raw: "HTTP/1.0 200 OK\r\n\r\n" + half, says: "without its length"},
		{name: "no HTTP", raw: "220 mail.example.com ESMTP\r\n", says: "malformed HTTP"},
		{name: "a header that never ends", raw: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 200<<10), says: "header"},
		{name: "closed at once", raw: "", says: "the connection was closed early"},
		{name: "an encoding unasked", status: 200, body: "\x8b\x02\x80abc\x03", header: []string{"Content-Encoding", "br"}, says: "Content-Encoding br"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newHTTPRig(t)
			r.start().good("lamp-n1")
			if tt.status == 0 {
				r.raw(tt.raw)
			} else {
				r.answers(tt.status, tt.body, tt.header...)
			}
			for range 3 {
				if s := r.bad(tt.says, "lamp-n1"); !s.Live || !s.Attempted {
					t.Errorf("%s", describe(s))
				}
			}
			if n := r.log.count("level=WARN"); n != 1 {
				t.Errorf("%d warnings:\n%s", n, r.log)
			}
			r.answers(http.StatusOK, podList("lamp", "kiln"))
			r.good("lamp-n1", "kiln-n1")
			if n := len(r.changes); n > 4 || slices.Contains(r.changes[:1], "REMOVE lamp-n1") {
				t.Errorf("changes %q", r.changes)
			}
		})
	}
}

// Zero bytes and a separator are errors; an explicit empty List removes all,
// however many, and nothing else does.
func TestHTTPEmptyMustBeMeant(t *testing.T) {
	r := newHTTPRig(t)
	r.answers(http.StatusOK, podList("lamp", "kiln", "wheel"), "ETag", `"1"`)
	all := []string{"lamp-n1", "kiln-n1", "wheel-n1"}
	r.start().good(all...)
	r.answers(http.StatusOK, "", "ETag", `"2"`)
	r.bad("an empty body", all...)
	r.answers(http.StatusOK, "---\n", "ETag", `"3"`)
	r.bad("holds no manifest", all...)
	r.answers(http.StatusOK, podList("rack"), "ETag", `"4"`)
	if s := r.bad("RemovalHeld: revision 4 would remove 3 of 3 pods", all...); !healthy(s) || s.Held == "" {
		t.Errorf("held %q: %s", s.Held, describe(s))
	}
	elsewhere := strings.Replace(podList("rack"), `"spec":{`, `"spec":{"nodeName":"n2",`, 1)
	r.answers(http.StatusOK, elsewhere, "ETag", `"5"`)
	r.bad("RemovalHeld: revision 5", all...)
	r.answers(http.StatusOK, podList(), "ETag", `"6"`)
	r.good()
	if n := r.log.count("removal is allowed", "explicit empty List"); n != 1 {
		t.Errorf("told %d times:\n%s", n, r.log)
	}
}

// A server that ignores what it is asked, and makes up a new ETag each time,
// causes no event.
func TestHTTPSameBodyUnderOtherETags(t *testing.T) {
	r := newHTTPRig(t)
	for n := range 10 {
		r.answers(http.StatusOK, manifest("lamp", "on"), "ETag", fmt.Sprintf(`W/"%d"`, n))
		if n == 0 {
			r.start()
		}
		if s := r.good("lamp-n1"); s.Revision != fmt.Sprint(n) {
			t.Errorf("revision %q", s.Revision)
		}
	}
	r.wantChanges("ADD lamp-n1")
}

// The body rules when there is one, whatever the ETag says.
func TestHTTPOtherBodyUnderTheSameETag(t *testing.T) {
	r := newHTTPRig(t)
	r.answers(http.StatusOK, manifest("lamp", "on"), "ETag", `"1"`)
	r.start().good("lamp-n1")
	r.answers(http.StatusOK, manifest("lamp", "off"), "ETag", `"1"`)
	if s := r.good("lamp-n1"); !runs("lamp-n1", "off")(s) {
		t.Errorf("%s", describe(s))
	}
	r.wantChanges("ADD lamp-n1", "REMOVE lamp-n1", "ADD lamp-n1")
}

// etagged answers as a server that knows its ETag.
func (r *httpRig) etagged(tag, body string) {
	r.handler(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("ETag", tag)
		if request.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, body)
	})
}

// Only a body that was taken is remembered, over restarts too; an answer 304
// makes a set from the disk live.
func TestHTTPConditional(t *testing.T) {
	r := newHTTPRig(t)
	r.etagged(`"1"`, manifest("lamp", "on"))
	r.start().good("lamp-n1")
	r.etagged(`"2"`, "kind: Po")
	r.bad("apiVersion", "lamp-n1")
	r.bad("apiVersion", "lamp-n1")
	if got := r.request(-1).Header.Get("If-None-Match"); got != `"1"` {
		t.Errorf("asked with ETag %s, want that of the set in force", got)
	}
	r.etagged(`"1"`, "not to be sent")
	r.good("lamp-n1")

	r.stop()
	if s := r.start().good("lamp-n1"); s.Revision != "1" || s.Units[0].Revision != "1" {
		t.Errorf("after a restart: %s", describe(s))
	}
	r.wantChanges("ADD lamp-n1")
	if got := r.request(-1).Header.Get("If-None-Match"); got != `"1"` {
		t.Errorf("asked with ETag %s after a restart", got)
	}

	r.stop() // validators of one question say nothing about another
	r.cfg.Headers = http.Header{"X-Fleet": {"north"}}
	r.etagged(`"1"`, manifest("kiln", "on"))
	r.start().good("kiln-n1")
}

// A date is a weak validator: it is trusted for some minutes only, and not at
// all if more could follow within its second.
func TestHTTPLastModified(t *testing.T) {
	const modified, later = "Mon, 05 Jan 2026 10:00:00 GMT", "Mon, 05 Jan 2026 10:00:02 GMT"
	r := newHTTPRig(t)
	since := func() string { return r.request(-1).Header.Get("If-Modified-Since") }
	r.answers(http.StatusOK, manifest("lamp", "on"), "Last-Modified", modified, "Date", modified)
	r.start().good("lamp-n1")
	r.answers(http.StatusOK, manifest("lamp", "on"), "Last-Modified", modified, "Date", later)
	r.good("lamp-n1")
	if got := since(); got != "" {
		t.Errorf("asked since %s", got)
	}
	r.answers(http.StatusNotModified, "")
	r.good("lamp-n1")
	if got := since(); got != modified {
		t.Errorf("asked since %q", got)
	}
	place := r.source.(*HTTP).place
	if m := place.usable(mark{markAsked: place.asked().full(), markModified: modified}); m == nil {
		t.Error("a date of now is not used")
	}
	r.stop()
	place.whole = time.Now().Add(-trustModified - time.Second)
	if m := place.usable(mark{markAsked: place.asked().full(), markModified: modified}); m != nil {
		t.Error("a date is trusted for ever")
	}
}

func TestHTTPRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	tests := []struct {
		value string
		want  time.Duration
	}{
		{"", 0},
		{"120", 2 * time.Minute},
		{"-5", 0},
		{"soon", 0},
		{"99999999999999999999", 0},
		{"Mon, 05 Jan 2026 10:05:00 GMT", 5 * time.Minute},
		{"Mon, 05 Jan 2026 09:00:00 GMT", 0},
	}
	for _, tt := range tests {
		if got := retryAfter(http.Header{"Retry-After": {tt.value}}, now); got != tt.want {
			t.Errorf("%q is %v, want %v", tt.value, got, tt.want)
		}
	}
	r := newHTTPRig(t)
	r.answers(http.StatusServiceUnavailable, "", "Retry-After", "1800")
	s := r.start().bad("HTTP 503 Service Unavailable")
	if wait := time.Until(s.NextPoll); wait > 30*time.Minute || wait < 29*time.Minute {
		t.Errorf("next look after %v", wait)
	}
}

func TestHTTPTooLarge(t *testing.T) {
	bomb := func(size int) string {
		var zipped bytes.Buffer
		w, _ := gzip.NewWriterLevel(&zipped, gzip.BestSpeed)
		for range size >> 20 {
			_, _ = w.Write(bytes.Repeat([]byte("# \n "), 1<<18))
		}
		_ = w.Close()
		return zipped.String()
	}(10 << 20)
	tests := []struct {
		name   string
		handle http.HandlerFunc
	}{
		{"with its length", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99999999999")
			w.WriteHeader(http.StatusOK)
		}},
		{"without end", func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(bytes.Repeat([]byte("#\n"), 1<<15)); err != nil {
					return
				}
			}
		}},
		{"after decompression", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, bomb)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newHTTPRig(t)
			r.start().good("lamp-n1")
			r.handler(tt.handle)
			r.bad("larger than the limit of 8388608 bytes", "lamp-n1")
		})
	}
}

func TestHTTPCompressed(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(w, manifest("kiln", "on"))
	_ = w.Close()
	r := newHTTPRig(t)
	r.answers(http.StatusOK, zipped.String(), "Content-Encoding", "gzip")
	r.start().good("kiln-n1")
	if got := r.request(-1).Header.Get("Accept-Encoding"); got != "gzip" {
		t.Errorf("accepts %q", got)
	}
	r.answers(http.StatusOK, zipped.String()[:zipped.Len()-12], "Content-Encoding", "gzip")
	r.bad("the body broke off", "kiln-n1")
}

// Who asks is told to the URL's host alone, and not again to a host that a
// stranger has sent us back to.
func TestHTTPRedirects(t *testing.T) {
	r := newHTTPRig(t)
	other := newHTTPRig(t)
	stranger := strings.Replace(other.server.URL, "127.0.0.1", "localhost", 1)
	r.cfg.Headers = http.Header{"X-Key": {"sesame-key"}, "Host": {"fleet.example"}}
	r.cfg.User, r.cfg.PasswordFile = "node", r.file("password", "hunter2-pass\n")
	told := func(q *http.Request) bool {
		user, password, _ := q.BasicAuth()
		return user == "node" && password == "hunter2-pass" && q.Header.Get("X-Key") == "sesame-key" && q.Host == "fleet.example"
	}
	silent := func(q *http.Request) bool {
		return q.Header.Get("Authorization") == "" && q.Header.Get("X-Key") == "" && q.Host != "fleet.example" && q.Header.Get("Referer") == ""
	}

	r.handler(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/pods" {
			http.Redirect(w, q, "/here", http.StatusMovedPermanently)
			return
		}
		w.Header().Set("ETag", `"h"`)
		_, _ = io.WriteString(w, manifest("lamp", "on"))
	})
	r.start().good("lamp-n1")
	r.good("lamp-n1")
	if !told(r.request(0)) || !told(r.request(1)) {
		t.Errorf("the own host was told %v, then %v", r.request(0).Header, r.request(1).Header)
	}
	if first, second := r.request(2).Header.Get("If-None-Match"), r.request(3).Header.Get("If-None-Match"); first != "" || second != `"h"` {
		t.Errorf("ETag %q went to the URL, %q to where it came from", first, second)
	}
	if n := r.log.count("redirected to "+r.server.URL+"/here", "level=INFO"); n != 1 {
		t.Errorf("told %d times:\n%s", n, r.log)
	}

	other.handler(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/back" {
			http.Redirect(w, q, r.server.URL+"/here?back", http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, manifest("kiln", "on"))
	})
	to := func(url string) {
		r.handler(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/pods" {
				w.Header().Set("Location", url)
				w.WriteHeader(http.StatusFound)
				return
			}
			_, _ = io.WriteString(w, manifest("wheel", "on"))
		})
	}
	to(stranger + "/there")
	r.good("kiln-n1")
	if !silent(other.request(-1)) {
		t.Errorf("a stranger was told %v of host %s", other.request(-1).Header, other.request(-1).Host)
	}
	to(stranger + "/back")
	r.good("wheel-n1")
	if !silent(r.request(-1)) {
		t.Errorf("after a detour the own host was told %v", r.request(-1).Header)
	}
	to("/pods?again=sesame-token")
	s := r.bad("more than 10 redirects", "wheel-n1")
	if !placeFaulty("redirected to " + r.server.URL + "/pods?…: ")(s) {
		t.Errorf("%s", describe(s))
	}
	to("ftp://files.example/pods")
	r.bad(`redirected to "ftp"`, "wheel-n1")
	to("http://[::1")
	r.bad("HTTP 302 Found to what is no URL", "wheel-n1")
	to("http://user:secret-pass@" + strings.TrimPrefix(stranger, "http://") + "/x?t=1")
	other.answers(http.StatusForbidden, "")
	r.bad("redirected to "+stranger+"/x?…: HTTP 403 Forbidden", "wheel-n1")
	if n := r.log.count("secret-pass") + r.log.count("sesame") + r.log.count("hunter2"); n > 0 {
		t.Errorf("secrets in the log:\n%s", r.log)
	}
}

func TestHTTPSameHost(t *testing.T) {
	tests := []struct {
		from, to string
		same     bool
	}{
		{"https://a.example/x", "https://A.example:443/y", true},
		{"http://a.example/x", "https://a.example/x", true},
		{"http://a.example:8080/x", "https://a.example/x", false},
		{"http://a.example/x", "https://a.example:8443/x", false},
		{"https://a.example/x", "https://b.a.example/x", false},
		{"https://a.example/x", "https://a.example:8443/x", false},
	}
	for _, tt := range tests {
		from, _ := checkURL(tt.from)
		to, _ := checkURL(tt.to)
		if got := sameHost(from, to); got != tt.same {
			t.Errorf("%s to %s: same %v", tt.from, tt.to, got)
		}
	}
}

// What the source sends by itself, and what it sends when told otherwise.
func TestHTTPHeaders(t *testing.T) {
	r := newHTTPRig(t)
	r.start().good("lamp-n1")
	h := r.request(0).Header
	if h.Get("User-Agent") != "podstead/v0" || !strings.HasPrefix(h.Get("Accept"), "application/yaml") || r.request(0).Method != http.MethodGet {
		t.Errorf("sent %v", h)
	}
	r.stop()
	r.cfg.Headers = http.Header{"user-agent": {"mine"}, "Accept": {"text/plain"}, "X-Many": {"a", "b"}}
	r.start().good("lamp-n1")
	h = r.request(-1).Header
	if h.Get("User-Agent") != "mine" || h.Get("Accept") != "text/plain" || !slices.Equal(h.Values("X-Many"), []string{"a", "b"}) {
		t.Errorf("sent %v", h)
	}
}

// Credentials are read at each look; one that is missing is an error that names
// the file. None is ever shown, also if the server says them back.
func TestHTTPCredentials(t *testing.T) {
	r := newHTTPRig(t)
	r.cfg.TokenFile = r.file("token", "first-token\n")
	r.cfg.URL += "?key=query-secret"
	want := "Bearer first-token"
	r.handler(func(w http.ResponseWriter, q *http.Request) {
		got := q.Header.Get("Authorization")
		if got != want || q.URL.Query().Get("key") != "query-secret" {
			_, _ = fmt.Fprintf(w, "<p>no: %s %s %s</p>", got, strings.TrimPrefix(got, "Bearer "), q.URL.RawQuery)
			return
		}
		_, _ = io.WriteString(w, manifest("lamp", "on"))
	})
	s := r.start().good("lamp-n1")
	if s.Place != r.server.URL+"/pods?…" {
		t.Errorf("place %s", s.Place)
	}
	r.file("token", "second-token")
	r.bad(`"<p>no: Bearer … … …</p>"`, "lamp-n1")
	want = "Bearer second-token"
	r.good("lamp-n1")
	for name, content := range map[string]string{"is empty": "\n", "more than one line": "a\nb"} {
		r.file("token", content)
		r.bad(name, "lamp-n1")
	}
	if err := os.Remove(r.cfg.TokenFile); err != nil {
		t.Fatal(err)
	}
	r.bad(r.cfg.TokenFile+": no such file", "lamp-n1")
	r.server.Close()
	r.file("token", "second-token")
	r.bad("connection refused", "lamp-n1")
	if n := r.log.count("token\"") + r.log.count("secret"); n > 0 {
		t.Errorf("secrets in the log:\n%s", r.log)
	}
}

func TestHTTPUserInURL(t *testing.T) {
	r := newHTTPRig(t)
	r.cfg.URL = strings.Replace(r.cfg.URL, "http://", "http://node:hunter2-pass@", 1)
	s := r.start().good("lamp-n1")
	if user, password, _ := r.request(0).BasicAuth(); user != "node" || password != "hunter2-pass" {
		t.Errorf("sent %s:%s", user, password)
	}
	r.server.Close()
	r.bad("dial "+r.server.Listener.Addr().String()+": connect: connection refused", "lamp-n1")
	r.stop() // by now all is saved
	index, err := os.ReadFile(filepath.Join(r.cfg.Dir, "lastgood", "index.json"))
	if err != nil || strings.Contains(string(index), "hunter2") || strings.Contains(s.Place+r.log.String(), "hunter2") {
		t.Errorf("%v, or the password is shown by %s, %s\n%s", err, s.Place, index, r.log)
	}
}

// A server that takes connections and never answers delays no other source, and
// is told off after its time.
func TestHTTPServerThatNeverAnswers(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "lamp.yaml"), []byte(manifest("lamp", "on")), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &logBook{}
	web, err := NewHTTP(HTTPConfig{Name: "web", URL: "http://" + mute.Addr().String(), Node: testNode, Logger: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	file, err := NewFile(FileConfig{Name: "file", Path: folder, Node: testNode, Logger: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	merger := NewMerger(MergerConfig{Sources: []Member{{Name: "web"}, {Name: "file"}}, Logger: log.logger()})
	in, out := make(chan Snapshot), make(chan PodUpdate)
	ended := make(chan error, 3)
	go func() { ended <- web.Run(ctx, in) }()
	go func() { ended <- file.Run(ctx, in) }()
	go func() { ended <- merger.Run(ctx, in, out) }()
	began := time.Now()
	for u := range out {
		if len(u.Changes) > 0 {
			break
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the file's pod came after %v", took)
	}
	statuses, err := merger.Statuses(ctx)
	if err != nil || statuses[0].Attempted || len(statuses[0].Faults) > 0 {
		t.Errorf("%v, the silent source has ended its attempt: %+v", err, statuses[0])
	}
	began = time.Now()
	cancel()
	for range 3 {
		<-ended
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("the end took %v", took)
	}
}

// Silence ends a look; a trickle does when the look's time is over.
func TestHTTPSlowServers(t *testing.T) {
	tests := []struct {
		name          string
		idle, timeout time.Duration
		pause         time.Duration // between two bytes
		says          string
	}{
		{"silence", 50 * time.Millisecond, time.Minute, time.Minute, "has sent nothing for 50ms"},
		{"a byte now and then", 10 * time.Second, 200 * time.Millisecond, 5 * time.Millisecond, "no whole answer within 200ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newHTTPRig(t)
			r.cfg.IdleTimeout, r.cfg.Timeout = tt.idle, tt.timeout
			r.start().good("lamp-n1")
			r.handler(func(w http.ResponseWriter, q *http.Request) {
				text := manifest("kiln", "on")
				w.Header().Set("Content-Length", fmt.Sprint(len(text)))
				for i := range len(text) {
					_, _ = io.WriteString(w, text[i:i+1])
					_ = http.NewResponseController(w).Flush()
					select {
					case <-time.After(tt.pause):
					case <-q.Context().Done():
						return
					}
				}
			})
			r.bad(tt.says, "lamp-n1")
		})
	}
	t.Run("a byte in time", func(t *testing.T) {
		r := newHTTPRig(t)
		r.cfg.IdleTimeout = 2 * time.Second
		r.handler(func(w http.ResponseWriter, _ *http.Request) {
			text := manifest("kiln", "on")
			for i := range len(text) {
				_, _ = io.WriteString(w, text[i:i+1])
				_ = http.NewResponseController(w).Flush()
			}
		})
		r.start().good("kiln-n1")
	})
}

func TestHTTPProxy(t *testing.T) {
	proxy := newHTTPRig(t)
	r := newHTTPRig(t)
	r.cfg.URL = "http://fleet.example/pods"
	r.cfg.Proxy = strings.Replace(proxy.server.URL, "http://", "http://node:proxy-pass@", 1)
	r.start().good("lamp-n1")
	q := proxy.request(0)
	if q.URL.String() != "http://fleet.example/pods" || q.Header.Get("Proxy-Authorization") == "" {
		t.Errorf("the proxy was asked for %s with %v", q.URL, q.Header)
	}
	proxy.answers(http.StatusProxyAuthRequired, "")
	r.bad("HTTP 407 Proxy Authentication Required", "lamp-n1")
	proxy.server.Close()
	r.bad("proxy "+proxy.server.URL+": dial "+proxy.server.Listener.Addr().String()+": connect: connection refused", "lamp-n1")
	if n := r.log.count("proxy-pass"); n > 0 {
		t.Errorf("secrets in the log:\n%s", r.log)
	}
}

func TestHTTPProxyForTLS(t *testing.T) {
	ca := newAuthority(t)
	r := newHTTPRig(t, ca.sign(always, "fleet.example"))
	r.cfg.CAFile = r.file("ca.pem", ca.pem())
	r.cfg.URL = "https://fleet.example/pods"
	proxy := newHTTPRig(t)
	r.cfg.Proxy = proxy.server.URL
	address := r.server.Listener.Addr().String()
	proxy.handler(func(w http.ResponseWriter, q *http.Request) {
		if q.Method != http.MethodConnect || q.Host != "fleet.example:443" {
			t.Errorf("asked to %s %s", q.Method, q.Host)
		}
		server, err := net.Dial("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		}()
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	r.start().good("lamp-n1")
	proxy.answers(http.StatusForbidden, "")
	r.stop()
	r.start().bad("Forbidden", "lamp-n1")
}

func TestHTTPBadCertificates(t *testing.T) {
	ca := newAuthority(t)
	day := 24 * time.Hour
	past := [2]time.Time{time.Now().Add(-9 * day), time.Now().Add(-2 * day)}
	future := [2]time.Time{time.Now().Add(2 * day), time.Now().Add(9 * day)}
	tests := []struct {
		name     string
		dates    [2]time.Time
		host     string
		distrust bool
		says     string
	}{
		{name: "unknown authority", dates: always, distrust: true, says: `the server's certificate of "CN=server" is signed by an unknown authority`},
		{name: "expired", dates: past, says: `the certificate of "CN=server" has expired on ` + past[1].UTC().Format(time.DateOnly)},
		{name: "not yet valid", dates: future, says: "is not valid before " + future[0].UTC().Format(time.DateOnly) + ", and this machine's clock says " + time.Now().UTC().Format(time.DateOnly) + ": is it right?"},
		{name: "wrong name", dates: always, host: "other.example", says: "127.0.0.1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newHTTPRig(t, ca.sign(tt.dates, tt.host))
			trusted := ca
			if tt.distrust {
				trusted = newAuthority(t)
			}
			r.cfg.CAFile = r.file("ca.pem", trusted.pem())
			r.start().bad(tt.says)
			if n := len(r.requests); n > 0 {
				t.Errorf("%d requests reached the server", n)
			}
		})
	}
	t.Run("no TLS at all", func(t *testing.T) {
		r := newHTTPRig(t)
		r.cfg.URL = strings.Replace(r.cfg.URL, "http://", "https://", 1)
		r.start().bad("does not speak TLS")
	})
	t.Run("TLS without being asked", func(t *testing.T) {
		r := newHTTPRig(t, ca.sign(always, ""))
		r.cfg.URL = strings.Replace(r.cfg.URL, "https://", "http://", 1)
		r.start().bad("HTTP 400 Bad Request")
	})
}

// A bundle that is exchanged is used at the next look; https is not left for
// http.
func TestHTTPTrust(t *testing.T) {
	old, young := newAuthority(t), newAuthority(t)
	r := newHTTPRig(t, young.sign(always, ""))
	r.cfg.CAFile = r.file("ca.pem", old.pem())
	r.start().bad("unknown authority")
	r.file("ca.pem", "no certificate")
	r.bad("ca.pem holds no certificate")
	r.file("ca.pem", old.pem()+young.pem())
	r.good("lamp-n1")
	r.answers(http.StatusFound, "", "Location", "http://localhost:1/pods?x")
	r.bad("redirected from https to http://localhost:1/pods?…, which is not followed", "lamp-n1")
}

func TestHTTPClientCertificate(t *testing.T) {
	ca := newAuthority(t)
	r := newHTTPRig(t, ca.sign(always, ""))
	r.cfg.CAFile = r.file("ca.pem", ca.pem())
	r.handler(func(w http.ResponseWriter, q *http.Request) {
		if len(q.TLS.PeerCertificates) != 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, manifest("lamp", "on"))
	})
	r.server.TLS.ClientAuth = 1 // asked for, not required
	cert, key := ca.files(ca.sign(always, "node"))
	r.cfg.CertFile, r.cfg.KeyFile = r.file("cert.pem", cert), r.file("key.pem", key)
	r.start().good("lamp-n1")
	_, other := ca.files(ca.sign(always, "node"))
	r.file("key.pem", other)
	r.bad("private key does not match public key", "lamp-n1")
}

// A board that boots in the past finds every certificate not yet valid. It says
// so, goes on trying, and works once its clock is right.
func TestHTTPClockWrongAtBoot(t *testing.T) {
	ca := newAuthority(t)
	issued := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC) // a day after a bubble begins
	r := newHTTPRig(t, ca.sign([2]time.Time{issued, issued.AddDate(0, 3, 0)}, ""))
	r.cfg.CAFile = r.file("ca.pem", ca.pem())
	r.cfg.Dir = ""
	synctest.Test(t, func(t *testing.T) {
		source, err := NewHTTP(r.cfg)
		if err != nil {
			t.Fatal(err)
		}
		out := make(chan Snapshot)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- source.Run(ctx, out) }()
		var s Snapshot
		for s = range out {
			if s.Live {
				break
			}
			if s.Attempted && !placeFaulty("is not valid before 2000-01-02, and this machine's clock says 2000-01-01: is it right?")(s) {
				t.Errorf("%s", describe(s))
			}
		}
		if late := time.Since(issued); late < 0 || late > time.Hour+DefaultHTTPInterval {
			t.Errorf("live %v after the certificate was valid", late)
		}
		cancel()
		<-ended
	})
	if n := r.log.count("is it right?"); n != 1 {
		t.Errorf("told %d times:\n%s", n, r.log)
	}
}

// What a URL wants is held to a policy, and away from what rules the node.
func TestHTTPPolicy(t *testing.T) {
	nosy := strings.Replace(podList("lamp"), `"spec":{`, `"spec":{"hostPID":true,`, 1)
	mounts := strings.Replace(podList("lamp"), `"spec":{`, `"spec":{"volumes":[{"name":"v","hostPath":{"path":"/run/podstead"}}],`, 1)
	tests := []struct {
		name   string
		body   string
		policy Policy
		paths  *NodePaths
		says   string // "" for nothing
	}{
		{"beyond edge", nosy, "", nil, "hostPID"},
		{"allowed by its policy", nosy, PolicyPrivileged, nil, ""},
		{"what rules the node", mounts, PolicyPrivileged, NewNodePaths(NodePath{"/run/podstead", "podstead's files"}), "/run/podstead"},
		{"what rules the node, allowed", mounts, PolicyPrivileged, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newHTTPRig(t)
			r.cfg.Policy, r.cfg.NodePaths = tt.policy, tt.paths
			r.answers(http.StatusOK, tt.body)
			if r.start(); tt.says == "" {
				r.good("lamp-n1")
				return
			}
			r.bad(tt.says)
		})
	}
}

func TestNewHTTPNamesEveryMistake(t *testing.T) {
	tests := []struct {
		name string
		cfg  HTTPConfig
		says []string
	}{
		{"all at once", HTTPConfig{
			URL: "ftp://node:hunter2@files.example", Interval: -1, Timeout: -1, IdleTimeout: -1, MaxBytes: -1,
			Headers: http.Header{"Bad Name": {"x"}, "range": {"0-1"}, "X-Two": {"a\nhunter2"}, "Authorization": {"hunter2"}},
			User:    "node", TokenFile: "/t", CertFile: "/c", Proxy: "hunter2", MaxRemoval: "half", UnsupportedKinds: "maybe", Policy: "any",
		}, []string{
			"a name is needed", `begins with "ftp"`, "interval -1ns", "timeout -1ns", "idle timeout", "-1 bytes", `"Bad Name"`, "Range can't be set", "X-Two holds a control",
			"there can be one", "user and password file need", "certificate file and key file need", "proxy is no URL", `maxRemoval "half"`, `"maybe"`, `policy "any"`,
		}},
		{"no URL", HTTPConfig{Name: "web"}, []string{"a URL is needed"}},
		{"no host", HTTPConfig{Name: "web", URL: "https:///pods"}, []string{"names no host"}},
		{"not to be read", HTTPConfig{Name: "web", URL: "https://node:hunter2@%zz/pods"}, []string{"can't be read"}},
		{"a socket", HTTPConfig{Name: "web", URL: "unix:///run/x.sock"}, []string{`begins with "unix"`}},
		{"certificates for http", HTTPConfig{Name: "web", URL: "http://fleet.example/", CAFile: "/ca"}, []string{"certificates are of no use"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Logger = (&logBook{}).logger()
			_, err := NewHTTP(tt.cfg)
			if err == nil {
				t.Fatal("no error")
			}
			for _, words := range tt.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%v does not mention %s", err, words)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret in %v", err)
			}
		})
	}
}
