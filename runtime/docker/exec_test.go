package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/podstead/podstead/runtime"
)

// wire is an engine of one exec on a real socket: what comes of it is the test's.
type wire struct {
	t       *testing.T
	refuse  func(w http.ResponseWriter)              // instead of the upgrade; nil for none
	stream  func(conn net.Conn, input *bufio.Reader) // once it is upgraded
	inspect func(w http.ResponseWriter, asked int)   // of the exec
	sizes   chan string                              // that were asked for
	asked   int
	frozen  chan struct{} // when set, the start is not answered until it is closed
}

// manager serves the engine and returns a manager of it.
func (e *wire) manager() *Manager {
	socket := filepath.Join(e.t.TempDir(), "docker.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		e.t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_ping", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Api-Version", "1.41") })
	mux.HandleFunc("HEAD /_ping", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Api-Version", "1.41") })
	mux.HandleFunc("POST /v1.41/containers/{id}/exec", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"Id":"e1"}`)
	})
	mux.HandleFunc("POST /v1.41/exec/e1/start", e.start)
	mux.HandleFunc("POST /v1.41/containers/{id}/attach", e.start)
	mux.HandleFunc("POST /v1.41/exec/e1/resize", func(_ http.ResponseWriter, r *http.Request) {
		e.sizes <- r.URL.Query().Get("w") + "x" + r.URL.Query().Get("h")
	})
	mux.HandleFunc("GET /v1.41/exec/e1/json", func(w http.ResponseWriter, _ *http.Request) {
		e.asked++
		e.inspect(w, e.asked)
	})
	mux.HandleFunc("GET /v1.41/containers/{id}/json", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"Id":"c1","State":{"Running":true},"Config":{"OpenStdin":true}}`)
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	m, err := New(Config{Endpoint: "unix://" + socket, NodeName: "n1", NodeID: "node-1"})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		must(e.t, m.Close())
		must(e.t, srv.Close())
		<-served
	})
	return m
}

func (e *wire) start(w http.ResponseWriter, r *http.Request) {
	if e.frozen != nil {
		<-e.frozen
	}
	if e.refuse != nil {
		e.refuse(w)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		e.t.Error(err)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
	e.stream(conn, rw.Reader)
}

// ended answers that the exec has ended.
func ended(code, pid int) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, _ int) {
		fmt.Fprintf(w, `{"ID":"e1","Running":false,"ExitCode":%d,"Pid":%d}`, code, pid)
	}
}

func says(stdout, stderr string) func(net.Conn, *bufio.Reader) {
	return func(conn net.Conn, _ *bufio.Reader) {
		_, _ = stdcopy.NewStdWriter(conn, stdcopy.Stdout).Write([]byte(stdout)) // the other end is the test's
		_, _ = stdcopy.NewStdWriter(conn, stdcopy.Stderr).Write([]byte(stderr))
	}
}

func silent(net.Conn, *bufio.Reader) {}

func TestTheEndOfACommand(t *testing.T) {
	const missing = "OCI runtime exec failed: exec failed: \"x\": executable file not found in $PATH: unknown"
	cases := []struct {
		name           string
		engine         wire
		stdout, stderr string
		want           *runtime.ExitError // nil for none
		err            error
	}{
		{name: "well", engine: wire{stream: says("out", "err"), inspect: ended(0, 7)}, stdout: "out", stderr: "err"},
		{name: "with a code", engine: wire{stream: says("out", ""), inspect: ended(3, 7)}, stdout: "out", want: &runtime.ExitError{Code: 3}},
		{
			name: "refused after the upgrade", engine: wire{stream: says(missing+"\r\n", ""), inspect: ended(126, 0)},
			stderr: missing + "\r\n", want: &runtime.ExitError{Code: 126, Refused: missing},
		},
		{
			name: "refused without a word", engine: wire{stream: silent, inspect: ended(127, 0)},
			want: &runtime.ExitError{Code: 127, Refused: "the engine could not run it"},
		},
		{
			name: "refused before the upgrade", engine: wire{refuse: refuses(400, missing), inspect: ended(127, 0)},
			want: &runtime.ExitError{Code: 127, Refused: missing},
		},
		{
			name: "a command that writes the engine's words itself", engine: wire{stream: says(missing, ""), inspect: ended(1, 7)},
			stdout: missing, want: &runtime.ExitError{Code: 1},
		},
		{
			name: "later than its output",
			engine: wire{stream: silent, inspect: func(w http.ResponseWriter, asked int) {
				fmt.Fprintf(w, `{"ID":"e1","Running":%v,"ExitCode":5,"Pid":7}`, asked < 4)
			}},
			want: &runtime.ExitError{Code: 5},
		},
		{
			name: "forgotten with its container",
			engine: wire{stream: silent, inspect: func(w http.ResponseWriter, _ int) {
				refuses(404, "No such exec instance: e1")(w)
			}},
			err: runtime.ErrNotFound,
		},
		{
			name: "in a container that stopped at this moment",
			engine: wire{refuse: refuses(409, "Container c1 is not running"), inspect: func(w http.ResponseWriter, _ int) {
				fmt.Fprint(w, `{"ID":"e1","Running":false,"ExitCode":null,"Pid":0}`)
			}},
			err: runtime.ErrNotRunning,
		},
		{
			name: "an engine that goes away",
			engine: wire{
				stream:  func(conn net.Conn, _ *bufio.Reader) { _, _ = conn.Write([]byte{1, 0, 0, 0, 0, 0, 0, 9, 'h'}) },
				inspect: func(w http.ResponseWriter, _ int) { refuses(503, "engine is shutting down")(w) },
			},
			stdout: "", err: runtime.ErrUnavailable,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.engine.t = t
			var stdout, stderr bytes.Buffer
			err := c.engine.manager().Exec(t.Context(), "c1", []string{"x"}, runtime.Streams{Stdout: &stdout, Stderr: &stderr})
			if stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("wrote %q and %q, want %q and %q", stdout.String(), stderr.String(), c.stdout, c.stderr)
			}
			var exit *runtime.ExitError
			switch errors.As(err, &exit); {
			case c.want != nil && (exit == nil || *exit != *c.want), c.want == nil && exit != nil:
				t.Errorf("ended with %v, want %v", err, c.want)
			case !errors.Is(err, c.err) && c.want == nil:
				t.Errorf("error %v, want %v", err, c.err)
			}
		})
	}
}

func refuses(status int, words string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":%q}`, words)
	}
}

func TestInputIsGivenWholeAndThenItsEnd(t *testing.T) {
	engine := &wire{t: t, inspect: ended(0, 7), stream: func(conn net.Conn, input *bufio.Reader) {
		text, err := io.ReadAll(input)
		if err != nil {
			t.Error(err)
		}
		says(string(text), "")(conn, nil)
	}}
	var out bytes.Buffer
	err := engine.manager().Exec(t.Context(), "c1", []string{"cat"}, runtime.Streams{
		Stdin: io.NopCloser(strings.NewReader("\x00abc")), Stdout: &out,
	})
	if err != nil || out.String() != "\x00abc" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestACommandThatDoesNotReadItsInputEndsAllTheSame(t *testing.T) {
	engine := &wire{t: t, inspect: ended(0, 7), stream: says("done", "")}
	input, open := io.Pipe() // nobody ever writes or closes it
	defer open.Close()
	var out bytes.Buffer
	err := engine.manager().Exec(t.Context(), "c1", []string{"true"}, runtime.Streams{Stdin: input, Stdout: &out})
	if err != nil || out.String() != "done" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestASlowReaderLosesNothing(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 64<<10)
	engine := &wire{t: t, inspect: ended(0, 7), stream: says(text, "")}
	reader, writer := io.Pipe()
	got := make(chan string)
	go func() {
		all, _ := io.ReadAll(iotestOneByte{bufio.NewReader(reader)}) // its error is the length's
		got <- string(all)
	}()
	err := engine.manager().Exec(t.Context(), "c1", []string{"cat"}, runtime.Streams{Stdout: writer})
	_ = writer.Close()
	if all := <-got; err != nil || all != text {
		t.Errorf("%d bytes of %d, %v", len(all), len(text), err)
	}
}

// iotestOneByte reads in the smallest pieces.
type iotestOneByte struct{ io.Reader }

func (r iotestOneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }

func TestLeavingACommandLeavesNothingBehind(t *testing.T) {
	cases := []struct {
		name  string
		leave func(m *Manager, ctx context.Context, s runtime.Streams) error
	}{
		{"exec", func(m *Manager, ctx context.Context, s runtime.Streams) error {
			return m.Exec(ctx, "c1", []string{"sleep"}, s)
		}},
		{"attach", func(m *Manager, ctx context.Context, s runtime.Streams) error { return m.Attach(ctx, "c1", s) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			gone := make(chan struct{})
			engine := &wire{t: t, inspect: ended(0, 7), stream: func(conn net.Conn, input *bufio.Reader) {
				says("begun", "")(conn, nil)
				_, _ = io.Copy(io.Discard, input) // until we are gone
				close(gone)
			}}
			ctx, leave := context.WithCancel(t.Context())
			input, open := io.Pipe()
			defer open.Close()
			out := writerFunc(func(p []byte) (int, error) { leave(); return len(p), nil })
			if err := c.leave(engine.manager(), ctx, runtime.Streams{Stdin: input, Stdout: out}); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			<-gone
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestALeaverDoesNotWaitForAHungEngine(t *testing.T) {
	engine := &wire{t: t, stream: silent, frozen: make(chan struct{})}
	m := engine.manager()
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Exec(ctx, "c1", []string{"x"}, runtime.Streams{}) }()
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(engine.frozen)
}

func TestEachSizeOfATerminalIsTold(t *testing.T) {
	engine := &wire{t: t, inspect: ended(0, 7), sizes: make(chan string, 2)}
	told := sync.OnceValue(func() string { return <-engine.sizes + " " + <-engine.sizes })
	engine.stream = func(conn net.Conn, _ *bufio.Reader) { fmt.Fprint(conn, told()) }
	sizes := make(chan runtime.TerminalSize, 2)
	sizes <- runtime.TerminalSize{Width: 80, Height: 24}
	sizes <- runtime.TerminalSize{Width: 132, Height: 50}
	close(sizes)
	var out bytes.Buffer
	err := engine.manager().Exec(t.Context(), "c1", []string{"top"}, runtime.Streams{Stdout: &out, TTY: true, Sizes: sizes})
	if err != nil || out.String() != "80x24 132x50" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestWhatAnExecAsksFor(t *testing.T) {
	got := execOptions([]string{"sh"}, runtime.Streams{TTY: true, Stdin: io.NopCloser(strings.NewReader(""))})
	want := container.ExecOptions{
		Cmd: []string{"sh"}, Tty: true, DetachKeys: detachKeys, AttachStdin: true, AttachStdout: true, AttachStderr: true,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v", got)
	}
}
