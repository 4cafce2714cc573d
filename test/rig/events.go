package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Event is one thing that happened to a container, as the engine tells it.
type Event struct {
	At        time.Time
	Action    string // create, start, kill, die, destroy, …
	ID        string
	Name      string // of the container on the engine
	Pod       string // full name
	UID       string // of the pod
	Container string // in its pod, Pause for a sandbox
	Signal    string // of a kill
}

func (e Event) String() string { return e.Action + " " + e.Container + " of " + e.UID }

// Follow opens the engine's stream of what happens to a node's containers, or to
// all for "", from since on unless that is zero. A goroutine hands each event on
// until ctx ends or the engine goes away; then ended is closed.
func (e *Engine) Follow(ctx context.Context, node string, since time.Time, each func(Event)) (ended <-chan struct{}, err error) {
	filters := `{"type":["container"]}`
	if node != "" {
		filters = fmt.Sprintf(`{"type":["container"],"label":[%q]}`, LabelNode+"="+node)
	}
	query := url.Values{"filters": {filters}}
	if !since.IsZero() {
		query.Set("since", strconv.FormatFloat(float64(since.UnixNano())/1e9, 'f', 9, 64))
	}
	stream, err := e.Open(ctx, http.MethodGet, "/events?"+query.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("follow the engine's events: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer stream.Close()
		for lines := json.NewDecoder(stream); ; {
			var line eventLine
			if lines.Decode(&line) != nil {
				return
			}
			each(line.event())
		}
	}()
	return done, nil
}

// eventLine is an event as it comes.
type eventLine struct {
	Action   string
	TimeNano int64 `json:"timeNano"`
	Actor    struct {
		ID         string
		Attributes map[string]string
	}
}

func (l eventLine) event() Event {
	of := l.Actor.Attributes
	return Event{
		At: time.Unix(0, l.TimeNano), Action: l.Action, ID: l.Actor.ID, Name: of["name"],
		Pod: of[LabelPod], UID: of[LabelUID], Container: of[LabelContainer], Signal: of["signal"],
	}
}
