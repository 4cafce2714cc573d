package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"

	"github.com/podstead/podstead/runtime"
)

// commands are an agent whose containers know these, by their first word.
func commands(programs map[string]Session) Handlers {
	return Handlers{
		Exec: func(_ context.Context, req ExecRequest) (Session, error) {
			if req.Pod != "web-n1" {
				return nil, fmt.Errorf("pod %q: %w", req.Pod, runtime.ErrNotFound)
			}
			return programs[req.Command[0]], nil
		},
		Attach: func(context.Context, Target) (Session, error) { return programs["attach"], nil },
	}
}

// cat writes what it reads to stdout, and its length to stderr.
func cat(_ context.Context, s runtime.Streams) error {
	defer s.CloseStdin()
	n, err := io.Copy(s.Stdout, s.Stdin)
	if s.Stderr != nil {
		fmt.Fprintf(s.Stderr, "%d", n)
	}
	return err
}

// exits ends with the code.
func exits(code int) Session {
	return func(_ context.Context, s runtime.Streams) error {
		s.CloseStdin()
		return fmt.Errorf("container main: %w", &runtime.ExitError{Code: code})
	}
}

// stays says hello and stays until its context ends, which it returns the error of.
func stays(ctx context.Context, s runtime.Streams) error {
	_, _ = io.WriteString(s.Stdout, "hello")
	<-ctx.Done()
	s.CloseStdin()
	return ctx.Err()
}

func web(command ...string) ExecRequest {
	return ExecRequest{Target: Target{Namespace: "default", Pod: "web-n1", Container: "main"}, Command: command}
}

// visitor is one way to run a command.
type visitor func(ctx context.Context, command string, s runtime.Streams) error

// visitors are our client and those of Kubernetes, of the same server.
func visitors(t *testing.T, h Handlers) map[string]visitor {
	t.Helper()
	c := serve(t, h)
	base := serveTCP(t, h)
	stock := func(make func(cfg *rest.Config, target *url.URL) (remotecommand.Executor, error)) visitor {
		return func(ctx context.Context, command string, s runtime.Streams) error {
			defer s.CloseStdin()
			q := url.Values{"command": {command}, "output": {"1"}}
			opts := remotecommand.StreamOptions{Stdin: reader(s.Stdin), Stdout: s.Stdout, Stderr: s.Stderr, Tty: s.TTY}
			for name, wanted := range map[string]bool{"input": s.Stdin != nil, "error": s.Stderr != nil, "tty": s.TTY} {
				if wanted {
					q.Set(name, "1")
				}
			}
			if s.Sizes != nil {
				opts.TerminalSizeQueue = sizeQueue{sizes: s.Sizes, over: ctx.Done()}
			}
			target, err := url.Parse(base + "/exec/default/web-n1/main?" + q.Encode())
			if err != nil {
				return err
			}
			executor, err := make(&rest.Config{Host: base, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}, target)
			if err != nil {
				return err
			}
			err = executor.StreamWithContext(klog.NewContext(ctx, klog.Logger{}), opts)
			var exit exec.CodeExitError
			if errors.As(err, &exit) {
				return &runtime.ExitError{Code: exit.Code}
			}
			return err
		}
	}
	return map[string]visitor{
		"podstead": func(ctx context.Context, command string, s runtime.Streams) error {
			return c.Exec(ctx, web(command), s)
		},
		"SPDY": stock(func(cfg *rest.Config, target *url.URL) (remotecommand.Executor, error) {
			return remotecommand.NewSPDYExecutor(cfg, http.MethodPost, target)
		}),
		"WebSocket v5": stock(func(cfg *rest.Config, target *url.URL) (remotecommand.Executor, error) {
			return remotecommand.NewWebSocketExecutor(cfg, http.MethodGet, target.String())
		}),
		"WebSocket v4": stock(func(cfg *rest.Config, target *url.URL) (remotecommand.Executor, error) {
			return remotecommand.NewWebSocketExecutorForProtocols(cfg, http.MethodGet, target.String(), "v4.channel.k8s.io")
		}),
	}
}

// serveTCP serves the same on loopback, where Kubernetes' own clients find it.
func serveTCP(t *testing.T, h Handlers) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{cfg: Config{Handlers: h, Logger: slog.New(slog.DiscardHandler)}}
	ctx, cancel := context.WithCancel(context.Background())
	var open sync.WaitGroup
	srv := &http.Server{
		Handler: counted(&open, s.routes()), ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	t.Cleanup(func() {
		cancel()
		_ = srv.Close()
		<-served
		open.Wait()
	})
	return "http://" + listener.Addr().String()
}

func TestEveryProtocolTellsOutputAndExitCode(t *testing.T) {
	for name, run := range visitors(t, commands(map[string]Session{
		"both": func(_ context.Context, s runtime.Streams) error {
			_, err := io.WriteString(s.Stdout, "out")
			_, err2 := io.WriteString(s.Stderr, "err")
			return errors.Join(err, err2, &runtime.ExitError{Code: 3})
		},
		"true": exits(0), "killed": exits(137),
		"good": func(context.Context, runtime.Streams) error { return nil },
		"broken": func(context.Context, runtime.Streams) error {
			return fmt.Errorf("container main: %w", runtime.ErrUnavailable)
		},
	})) {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), "both", runtime.Streams{Stdout: &stdout, Stderr: &stderr})
			if stdout.String() != "out" || stderr.String() != "err" {
				t.Errorf("%q, %q", stdout.String(), stderr.String())
			}
			wantCode(t, err, 3)
			wantCode(t, run(t.Context(), "killed", runtime.Streams{Stdout: io.Discard}), 137)
			if err := run(t.Context(), "good", runtime.Streams{Stdout: io.Discard}); err != nil {
				t.Errorf("a good end: %v", err)
			}
			if err := run(t.Context(), "broken", runtime.Streams{Stdout: io.Discard}); err == nil || !strings.Contains(err.Error(), "container main: engine unavailable") {
				t.Errorf("a break: %v", err)
			}
		})
	}
}

func wantCode(t *testing.T, err error, code int) {
	t.Helper()
	var exit *runtime.ExitError
	if !errors.As(err, &exit) || exit.Code != code {
		t.Errorf("%v, want exit code %d", err, code)
	}
}

// TestInputAndItsEndTravelWhole sends a MiB there and back, but to the oldest
// WebSocket protocol, which cannot tell the end of input.
func TestInputAndItsEndTravelWhole(t *testing.T) {
	sent := bytes.Repeat([]byte("\x00\x01\xff0123456789abc"), 64<<10)
	for name, run := range visitors(t, commands(map[string]Session{"cat": cat})) {
		if name == "WebSocket v4" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), "cat", runtime.Streams{Stdin: io.NopCloser(bytes.NewReader(sent)), Stdout: &stdout, Stderr: &stderr})
			if err != nil || sha256.Sum256(stdout.Bytes()) != sha256.Sum256(sent) || stderr.String() != fmt.Sprint(len(sent)) {
				t.Errorf("%d bytes came back of %s read of %d: %v", stdout.Len(), stderr.String(), len(sent), err)
			}
		})
	}
}

func TestInputThatIsNotReadHoldsNothingUp(t *testing.T) {
	for name, run := range visitors(t, commands(map[string]Session{"true": exits(4)})) {
		t.Run(name, func(t *testing.T) {
			input, stop := endless()
			defer stop()
			wantCode(t, run(t.Context(), "true", runtime.Streams{Stdin: input, Stdout: io.Discard}), 4)
		})
	}
}

// endless is input that never ends, until it is closed.
func endless() (io.ReadCloser, func()) {
	reader, writer := io.Pipe()
	var writing sync.WaitGroup
	writing.Go(func() {
		for block := make([]byte, 64<<10); ; {
			if _, err := writer.Write(block); err != nil {
				return
			}
		}
	})
	return reader, func() { _ = reader.Close(); writing.Wait() }
}

func TestATerminalIsOneStreamThatHasASize(t *testing.T) {
	for name, run := range visitors(t, commands(map[string]Session{
		"top": func(_ context.Context, s runtime.Streams) error {
			first, second := <-s.Sizes, <-s.Sizes
			_, err := fmt.Fprintf(s.Stdout, "%v %v %v", s.TTY, first, second)
			return err
		},
	})) {
		t.Run(name, func(t *testing.T) {
			sizes := make(chan runtime.TerminalSize, 2)
			sizes <- runtime.TerminalSize{Width: 80, Height: 24}
			sizes <- runtime.TerminalSize{Width: 132, Height: 50}
			var out bytes.Buffer
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := run(ctx, "top", runtime.Streams{Stdout: &out, TTY: true, Sizes: sizes})
			if err != nil || out.String() != "true {80 24} {132 50}" {
				t.Errorf("%q, %v", out.String(), err)
			}
		})
	}
}

func TestARefusedCommandTellsWhy(t *testing.T) {
	c := serve(t, commands(map[string]Session{"nope": func(context.Context, runtime.Streams) error {
		return &runtime.ExitError{Code: 126, Refused: "executable file not found"}
	}}))
	var exit *runtime.ExitError
	err := c.Exec(t.Context(), web("nope"), runtime.Streams{Stdout: io.Discard})
	if !errors.As(err, &exit) || *exit != (runtime.ExitError{Code: 126, Refused: "executable file not found"}) {
		t.Errorf("%v", err)
	}
}

func TestAVisitIsRefusedBeforeItBegins(t *testing.T) {
	c := serve(t, commands(nil))
	absent := serve(t, Handlers{})
	nobody := web("sh")
	nobody.Pod = "nobody"
	cases := []struct {
		name string
		err  error
		code int
		text string
	}{
		{"no such pod", c.Exec(t.Context(), nobody, runtime.Streams{Stdout: io.Discard}), 404, "nobody"},
		{"no stream at all", c.Exec(t.Context(), web("sh"), runtime.Streams{}), 400, "at least 1 of"},
		{"exec is not served", absent.Exec(t.Context(), web("sh"), runtime.Streams{Stdout: io.Discard}), 501, ""},
		{"attach is not served", absent.Attach(t.Context(), Target{Namespace: "a", Pod: "b", Container: "c"}, runtime.Streams{Stdout: io.Discard}), 501, ""},
	}
	for _, k := range cases {
		var answer *AnswerError
		if !errors.As(k.err, &answer) || answer.Code != k.code || !strings.Contains(answer.Text, k.text) {
			t.Errorf("%s: %v, want %d with %q", k.name, k.err, k.code, k.text)
		}
	}
	gone := NewClient(filepath.Join(t.TempDir(), "s"))
	if err := gone.Exec(t.Context(), web("sh"), runtime.Streams{Stdout: io.Discard}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("without an agent: %v", err)
	}
}

func TestAttachEndsWithTheContainer(t *testing.T) {
	c := serve(t, commands(map[string]Session{"attach": func(_ context.Context, s runtime.Streams) error {
		_, err := io.WriteString(s.Stdout, "tick")
		return err
	}}))
	var out bytes.Buffer
	err := c.Attach(t.Context(), Target{Namespace: "default", Pod: "web-n1", Container: "main"}, runtime.Streams{Stdout: &out})
	if err != nil || out.String() != "tick" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestAClientThatGoesAwayEndsItsSession also when the command is silent, and when
// what the client sent is not read.
func TestAClientThatGoesAwayEndsItsSession(t *testing.T) {
	cases := []struct {
		name  string
		input func() (io.ReadCloser, func())
	}{
		{"silent", func() (io.ReadCloser, func()) { return nil, func() {} }},
		{"with input that is not read", endless},
	}
	for _, k := range cases {
		ended := make(chan error, 1)
		all := visitors(t, commands(map[string]Session{"sleep": func(ctx context.Context, s runtime.Streams) error {
			err := stays(ctx, s)
			ended <- context.Cause(ctx)
			return err
		}}))
		for name, run := range all {
			t.Run(k.name+", "+name, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				input, stop := k.input()
				defer stop()
				out := writerFunc(func(p []byte) (int, error) { leave(); return len(p), nil })
				if err := run(ctx, "sleep", runtime.Streams{Stdin: input, Stdout: out}); !errors.Is(err, context.Canceled) {
					t.Errorf("the client's own error: %v", err)
				}
				if why := <-ended; !errors.Is(why, errClientGone) {
					t.Errorf("the session ended because of %v", why)
				}
			})
		}
	}
}

func TestASessionEndsWithTheServerAndItsClientIsTold(t *testing.T) {
	c, stop := serveAt(t, filepath.Join(t.TempDir(), "s"), commands(map[string]Session{"sleep": stays}))
	stopped := make(chan struct{})
	out := writerFunc(func(p []byte) (int, error) {
		go func() { stop(); close(stopped) }()
		return len(p), nil
	})
	err := c.Exec(t.Context(), web("sleep"), runtime.Streams{Stdout: out})
	if err == nil || !strings.Contains(err.Error(), errAgentEnds.Error()) {
		t.Errorf("told %v", err)
	}
	<-stopped
}

// TestAClientThatDoesNotReadDoesNotHoldTheServer whose end it is.
func TestAClientThatDoesNotReadDoesNotHoldTheServer(t *testing.T) {
	c, stop := serveAt(t, filepath.Join(t.TempDir(), "s"), commands(map[string]Session{"yes": func(_ context.Context, s runtime.Streams) error {
		for block := make([]byte, 64<<10); ; {
			if _, err := s.Stdout.Write(block); err != nil {
				return err
			}
		}
	}}))
	hold, begun := make(chan struct{}), make(chan struct{}, 1)
	out := writerFunc(func(p []byte) (int, error) {
		select {
		case begun <- struct{}{}:
		default:
		}
		<-hold
		return len(p), nil
	})
	done := make(chan error, 1)
	go func() { done <- c.Exec(context.Background(), web("yes"), runtime.Streams{Stdout: out}) }()
	<-begun
	stop()
	close(hold)
	if err := <-done; err == nil {
		t.Error("a command whose end nobody told has ended well")
	}
}

// TestAConnectionThatBreaksIsNoGoodEnd as it is for Kubernetes' own client.
func TestAConnectionThatBreaksIsNoGoodEnd(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	h := commands(map[string]Session{"sleep": stays})
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.Map
	srv := &http.Server{
		Handler: (&Server{cfg: Config{Handlers: h}}).routes(), ReadHeaderTimeout: time.Minute,
		ConnState: func(c net.Conn, _ http.ConnState) { conns.Store(c, true) },
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	out := writerFunc(func(p []byte) (int, error) {
		conns.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		return len(p), nil
	})
	err = NewClient(socket).Exec(t.Context(), web("sleep"), runtime.Streams{Stdout: out})
	if err == nil || !strings.Contains(err.Error(), "without telling") {
		t.Errorf("told %v", err)
	}
	_ = srv.Close()
	<-served
}

func TestASilentSessionEndsAfterItsTime(t *testing.T) {
	h := commands(map[string]Session{"sleep": stays})
	h.StreamIdle = 50 * time.Millisecond
	for name, run := range visitors(t, h) {
		t.Run(name, func(t *testing.T) {
			if err := run(t.Context(), "sleep", runtime.Streams{Stdout: io.Discard}); err == nil && name != "SPDY" {
				t.Error("a command whose end nobody told has ended well")
			}
		})
	}
}
