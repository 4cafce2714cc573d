package agent

import (
	"bytes"
	"context"
	"io"
	"os"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// Limits of termination messages (kubelet, pkg/kubelet/kuberuntime: getTerminationMessage).
const (
	messageBytes     = 4096
	fallbackLogBytes = 2048
	fallbackLogLines = 80
)

// terminationMessage reads what an ended container left in its message file, or
// its last log lines where the policy says so. What cannot be read is no message.
func (w *worker) terminationMessage(ctx context.Context, c runtime.Container) string {
	spec := findContainer(w.record.Pod, c.Name)
	message := tailOfFile(c.MessagePath)
	if message != "" || spec.TerminationMessagePolicy != v1.TerminationMessageFallbackToLogsOnError ||
		c.ExitCode == 0 || c.Reason == "ContainerCannotRun" {
		return join(c.Message, message)
	}
	lines := int64(fallbackLogLines)
	var out bytes.Buffer
	if err := w.agent.deps.Runtime.Logs(ctx, c.ID, runtime.LogOptions{Tail: &lines}, &out, &out); err != nil {
		w.log.Debug("no log for the termination message", "container", c.Name, "err", err)
		return c.Message
	}
	return join(c.Message, tail(out.String(), fallbackLogBytes))
}

// join puts the engine's own message before the container's, as the kubelet does.
func join(engine, container string) string {
	switch {
	case engine == "":
		return container
	case container == "":
		return engine
	}
	return engine + ": " + container
}

// tailOfFile reads the end of a message file. The container may have put
// anything there: only a regular file counts, and no link is followed.
func tailOfFile(path string) string {
	if path == "" {
		return ""
	}
	f, err := openRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	if _, err := f.Seek(max(0, info.Size()-messageBytes), io.SeekStart); err != nil {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, messageBytes))
	if err != nil {
		return ""
	}
	return string(data)
}

func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	return os.Open(path)
}

func tail(text string, limit int) string {
	if len(text) > limit {
		return text[len(text)-limit:]
	}
	return text
}
