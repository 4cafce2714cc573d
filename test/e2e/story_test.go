//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// act is one thing that happened to a container of the node.
type act struct {
	At        time.Time
	Action    string // create, start, kill, die, destroy, …
	ID        string
	Pod       string // full name
	UID       string
	Container string // POD for a sandbox
	Signal    string // of a kill
}

// story is all that the engine did for one node, in order.
type story struct {
	mu   sync.Mutex
	acts []act
	stop func()
}

// follow begins the story; it ends with stop.
func follow(e *engine, node string) (*story, error) {
	ctx, cancel := context.WithCancel(context.Background())
	body, err := e.open(ctx, http.MethodGet, "/events", url.Values{"filters": {labelled(labelNode, node)}}, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &story{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer body.Close()
		for lines := json.NewDecoder(body); ; {
			var event struct {
				Action   string
				TimeNano int64 `json:"timeNano"`
				Actor    struct {
					ID         string
					Attributes map[string]string
				}
			}
			if lines.Decode(&event) != nil {
				return // stopped, or the engine went away
			}
			of := event.Actor.Attributes
			s.add(act{
				At: time.Unix(0, event.TimeNano), Action: event.Action, ID: event.Actor.ID,
				Pod: of[labelPod], UID: of[labelUID], Container: of[labelContainer], Signal: of["signal"],
			})
		}
	}()
	s.stop = func() {
		cancel()
		<-ended
	}
	return s, nil
}

func (s *story) add(a act) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts = append(s.acts, a)
}

// of returns the acts of one kind on containers of one name, so far.
func (s *story) of(action, container string) []act {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []act
	for _, a := range s.acts {
		if a.Action == action && a.Container == container {
			found = append(found, a)
		}
	}
	return found
}

// all returns everything so far.
func (s *story) all() []act {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]act(nil), s.acts...)
}
