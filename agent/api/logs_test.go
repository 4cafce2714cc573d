package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/runtime"
)

func TestLogQueries(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		name, query, want string // want: the request, or "!" and part of the error
	}{
		{"nothing", "", "{}"},
		{"all", "follow=true&previous=1&timestamps=true&tailLines=5&limitBytes=9&sinceSeconds=60",
			"follow previous timestamps tail=5 limit=9 since=2030-01-01T11:59:00Z"},
		{"a time", "sinceTime=2029-12-31T00:00:00.5Z", "since=2029-12-31T00:00:00.5Z"},
		{"no lines", "tailLines=0", "tail=0"},
		{"the stream that is served", "stream=All", "{}"},
		{"both since", "sinceSeconds=1&sinceTime=2029-12-31T00:00:00Z", "!sinceTime"},
		{"negative tail", "tailLines=-1", "!tailLines"},
		{"no bytes", "limitBytes=0", "!limitBytes"},
		{"seconds beyond reason", "sinceSeconds=99999999999", "!sinceSeconds"},
		{"word for a number", "tailLines=all", "!tailLines"},
		{"odd truth", "follow=maybe", "!follow"},
		{"odd time", "sinceTime=yesterday", "!sinceTime"},
		{"one stream", "stream=Stdout", "!stream"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			values, err := url.ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			req, err := logRequest(values, now)
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				if !errors.Is(err, ErrBadRequest) || !strings.Contains(err.Error(), part) {
					t.Errorf("error %v, want one of %s", err, part)
				}
				return
			}
			if err != nil || describe(req) != c.want {
				t.Errorf("%s, %v; want %s", describe(req), err, c.want)
			}
		})
	}
}

func describe(r LogRequest) string {
	var words []string
	if r.Follow {
		words = append(words, "follow")
	}
	if r.Previous {
		words = append(words, "previous")
	}
	if r.Timestamps {
		words = append(words, "timestamps")
	}
	if r.Tail != nil {
		words = append(words, fmt.Sprintf("tail=%d", *r.Tail))
	}
	if r.LimitBytes != nil {
		words = append(words, fmt.Sprintf("limit=%d", *r.LimitBytes))
	}
	if r.Since != nil {
		words = append(words, "since="+r.Since.UTC().Format(time.RFC3339Nano))
	}
	if len(words) == 0 {
		return "{}"
	}
	return strings.Join(words, " ")
}

func TestLogsTravelWithTheirOptionsAndErrors(t *testing.T) {
	tail := int64(3)
	var got LogRequest
	answers := map[string]func(io.Writer) error{
		"good":  func(w io.Writer) error { _, err := io.WriteString(w, "hello\n"); return err },
		"gone":  func(io.Writer) error { return fmt.Errorf("log of default/gone: %w", runtime.ErrNotFound) },
		"break": func(w io.Writer) error { _, _ = io.WriteString(w, "half\n"); return errors.New("engine went away") },
	}
	c := serve(t, Handlers{Logs: func(_ context.Context, req LogRequest, out io.Writer) error {
		got = req
		return answers[req.Pod](out)
	}})
	cases := []struct{ pod, out, err string }{
		{"good", "hello\n", ""},
		{"gone", "", "log of default/gone: not found"},
		{"break", "half\n", "engine went away"},
	}
	for _, k := range cases {
		t.Run(k.pod, func(t *testing.T) {
			var out bytes.Buffer
			req := LogRequest{Namespace: "default", Pod: k.pod, Container: "c", LogOptions: runtime.LogOptions{Tail: &tail}}
			err := c.Logs(t.Context(), req, &out)
			if out.String() != k.out || (err == nil) != (k.err == "") || (err != nil && err.Error() != k.err) {
				t.Errorf("%q, %v; want %q, %q", out.String(), err, k.out, k.err)
			}
			if got.Container != "c" || got.Tail == nil || *got.Tail != 3 {
				t.Errorf("the agent was asked for %+v", got)
			}
		})
	}
}

func TestAFollowedLogIsSeenAsItGrowsAndEndsWithTheServer(t *testing.T) {
	c, stop := serveAt(t, filepath.Join(t.TempDir(), "s"), Handlers{
		Logs: func(ctx context.Context, _ LogRequest, out io.Writer) error {
			if _, err := io.WriteString(out, "first\n"); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}})
	seen := writerFunc(func(p []byte) (int, error) {
		if string(p) == "first\n" {
			go stop()
		}
		return len(p), nil
	})
	// The stream's end is the proof; how it ended depends on who was faster.
	_ = c.Logs(t.Context(), LogRequest{Namespace: "d", Pod: "p", Container: "c", LogOptions: runtime.LogOptions{Follow: true}}, seen)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
