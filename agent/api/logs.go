package api

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// errorTrailer carries an error that came after the answer had begun.
const errorTrailer = "Podstead-Error"

// logs streams a container's log with the kubelet's query parameters.
func (h Handlers) logs(w http.ResponseWriter, r *http.Request) {
	if h.Logs == nil {
		fail(w, errNotServed)
		return
	}
	req, err := logRequest(r.URL.Query(), time.Now())
	if err != nil {
		fail(w, err)
		return
	}
	req.Namespace, req.Pod, req.Container = r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Trailer", errorTrailer)
	out := &flushing{w: w, rc: http.NewResponseController(w)}
	err = h.Logs(r.Context(), req, out)
	switch {
	case err == nil || r.Context().Err() != nil:
	case out.begun:
		w.Header().Set(errorTrailer, strconv.QuoteToASCII(err.Error()))
	default:
		w.Header().Del("Trailer")
		fail(w, err)
	}
}

// logRequest reads and bounds the query. now turns sinceSeconds into a time.
func logRequest(q url.Values, now time.Time) (LogRequest, error) {
	var req LogRequest
	p := query{values: q}
	req.Follow = p.boolean("follow")
	req.Previous = p.boolean("previous")
	req.Timestamps = p.boolean("timestamps")
	req.Tail = p.number("tailLines", 0)
	req.LimitBytes = p.number("limitBytes", 1)
	if s := p.number("sinceSeconds", 1); s != nil {
		since := now.Add(-time.Duration(*s) * time.Second)
		req.Since = &since
	}
	if t := p.moment("sinceTime"); t != nil {
		if req.Since != nil {
			p.fault("sinceTime", "at most one of it and sinceSeconds can be given")
		}
		req.Since = t
	}
	if s := q.Get("stream"); s != "" && s != "All" {
		p.fault("stream", "only All is served: the engine's log is one stream")
	}
	return req, p.err
}

// query reads parameters and keeps the first fault.
type query struct {
	values url.Values
	err    error
}

func (p *query) fault(name, why string) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s: %s", ErrBadRequest, name, why)
	}
}

func (p *query) boolean(name string) bool {
	text := p.values.Get(name)
	if text == "" {
		return false
	}
	v, err := strconv.ParseBool(text)
	if err != nil {
		p.fault(name, "must be true or false")
	}
	return v
}

// maxNumber keeps seconds and lines far from where arithmetic on them overflows.
const maxNumber = 1 << 32

func (p *query) number(name string, least int64) *int64 {
	text := p.values.Get(name)
	if text == "" {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < least || v > maxNumber {
		p.fault(name, fmt.Sprintf("must be a number from %d to %d", least, int64(maxNumber)))
		return nil
	}
	return &v
}

func (p *query) moment(name string) *time.Time {
	text := p.values.Get(name)
	if text == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		p.fault(name, "must be a time like 2006-01-02T15:04:05Z")
		return nil
	}
	return &t
}

// flushing sends every write at once, so that a followed log is seen as it
// grows, and remembers whether the answer has begun.
type flushing struct {
	w     io.Writer
	rc    *http.ResponseController
	begun bool
}

// Write sends p to the client.
func (f *flushing) Write(p []byte) (int, error) {
	f.begun = true
	n, err := f.w.Write(p)
	if err != nil {
		return n, err
	}
	return n, f.rc.Flush()
}
