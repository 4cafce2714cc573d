package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/nodelogs"
	"github.com/podstead/podstead/runtime"
)

// logTrouble is what keeps log shippers from finding the logs, as it was told last.
// It is one thing for the whole node, whatever the number of pods.
type logTrouble struct {
	mu      sync.Mutex
	told    string
	removed bool // told that somebody removes links
}

// errNoLogFile is a container that has run and of which the engine keeps no file.
var errNoLogFile = errors.New("the engine keeps no log file of it (its log driver is not json-file)")

// showLogs makes the links to the pod's logs what the engine shows now. It stops
// nothing when it cannot.
func (w *worker) showLogs() {
	var logs []nodelogs.Log
	var fault error
	for _, c := range w.observed.Containers {
		switch {
		case c.LogPath != "":
			logs = append(logs, nodelogs.Log{Container: c.Name, Attempt: c.Attempt, ID: c.ID, Path: c.LogPath})
		case c.State == runtime.StateRunning:
			fault = fmt.Errorf("container %s of pod %s/%s: %w", c.Name, w.record.Pod.Namespace, w.record.Pod.Name, errNoLogFile)
		}
	}
	w.agent.tellLogTrouble(errors.Join(w.agent.deps.NodeLogs.Show(w.logPod(), logs), fault))
}

// hideLogs takes away the links to the logs of a pod that is gone from the engine.
func (w *worker) hideLogs() {
	w.agent.tellLogTrouble(w.agent.deps.NodeLogs.Hide(w.logPod()))
}

func (w *worker) logPod() nodelogs.Pod {
	return nodelogs.Pod{Namespace: w.record.Pod.Namespace, Name: w.record.Pod.Name, UID: w.uid}
}

// restoreLogs puts back links that somebody else has removed, and tries again what
// failed.
func (a *Agent) restoreLogs() {
	missing, err := a.deps.NodeLogs.Restore()
	if err != nil {
		a.tellLogTrouble(err)
	} else {
		a.endLogTrouble()
	}
	if missing == 0 {
		return
	}
	a.log.Info("links to logs were missing and are made again", "count", missing)
	a.logs.mu.Lock()
	defer a.logs.mu.Unlock()
	if !a.logs.removed {
		a.logs.removed = true
		a.nodeEvent(fmt.Sprintf("Somebody has removed links to logs (%d), which are made again at each resync. "+
			"A kubelet on this machine does that every minute: set podLogsDir to a folder that it does not look after.", missing))
	}
}

// tellLogTrouble tells each kind of trouble once, until it is over.
func (a *Agent) tellLogTrouble(err error) {
	if err == nil {
		return
	}
	a.logs.mu.Lock()
	defer a.logs.mu.Unlock()
	if kind := logTroubleKind(err); a.logs.told != kind {
		a.logs.told = kind
		a.log.Warn("logs are not shown to log shippers", "err", err)
		a.nodeEvent(fmt.Sprintf("Log shippers do not find the logs of all containers: %v. It is tried again at each resync; the pods run on.", err))
	}
}

func (a *Agent) endLogTrouble() {
	a.logs.mu.Lock()
	defer a.logs.mu.Unlock()
	if a.logs.told != "" && a.logs.told != errNoLogFile.Error() {
		a.logs.told = ""
		a.log.Info("all logs are shown to log shippers")
	}
}

// logTroubleKind is the error without what differs from pod to pod.
func logTroubleKind(err error) string {
	for _, kind := range []error{nodelogs.ErrUnseen, errNoLogFile} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	var of *fs.PathError
	var between *os.LinkError
	switch {
	case errors.As(err, &of):
		return of.Err.Error()
	case errors.As(err, &between):
		return between.Err.Error()
	}
	return err.Error()
}

func (a *Agent) nodeEvent(message string) {
	a.deps.Events.Event(events.Node(a.cfg.Node.Name), v1.EventTypeWarning, events.NodeLogsMissing, message)
}
