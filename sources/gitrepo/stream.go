package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// stream is a conversation with an upload-pack that runs for us, on this machine
// or behind ssh. It remembers what was said.
type stream struct {
	in     io.WriteCloser
	out    *pktReader
	stderr *tail
	end    func() // ends the process; called once
	once   sync.Once
}

func (s *stream) lasting() bool { return true }

// close waits until the process is gone, so that all it printed is known.
func (s *stream) close() { s.once.Do(s.end) }

func (s *stream) greet(ctx context.Context) (answer, error) { return s.listen(ctx), nil }

func (s *stream) ask(ctx context.Context, request []byte) (answer, error) {
	a := s.listen(ctx)
	if _, err := s.in.Write(request); err != nil {
		return answer{}, s.explain(errors.Join(err, a.Close()))
	}
	return a, nil
}

// listen returns what comes next. The end of ctx ends the process, and so the
// reading.
func (s *stream) listen(ctx context.Context) answer {
	s.out.left = maxAnswer
	return answer{s.out, watch(ctx, s.close)}
}

// watch calls f when ctx ends before the watch is closed. Close waits for an f
// under way.
func watch(ctx context.Context, f func()) io.Closer {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		f()
	})
	return closer(func() error {
		if !stop() {
			<-done
		}
		return nil
	})
}

type closer func() error

func (c closer) Close() error { return c() }

// explain adds what the process printed to an answer that ended early.
func (s *stream) explain(err error) error {
	if !errors.Is(err, errEarlyEnd) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	s.close()
	if text := s.stderr.text(); text != "" {
		return &remoteError{text}
	}
	return err
}

// tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// tailSize is how much of what a process prints is kept.
const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return printable(strings.TrimSpace(string(t.data)))
}

// quote makes one word of a path for the shell that sshd starts. A leading ~ is
// upload-pack's to expand.
func quote(path string) string {
	return fmt.Sprintf("'%s'", strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(path))
}
