package main

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/sources"
)

// onceResult is what has become of a pod in a run-once.
type onceResult string

// The results. Waiting turns into TimedOut when the time is up.
const (
	resultWaiting  onceResult = "Waiting"
	resultReady    onceResult = "Ready"
	resultDone     onceResult = "Succeeded"
	resultFailed   onceResult = "Failed"
	resultTimedOut onceResult = "TimedOut"
)

func (r onceResult) good() bool { return r == resultReady || r == resultDone }

// oncePod is one wanted pod in the report.
type oncePod struct {
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	UID       string     `json:"uid"`
	Source    string     `json:"source"`
	Manifest  string     `json:"manifest"` // unit:line
	Revision  string     `json:"revision"`
	Result    onceResult `json:"result"`
	Phase     string     `json:"phase"`
	Status    string     `json:"status"` // the word of the STATUS column
	Message   string     `json:"message,omitempty"`
	Log       []tail     `json:"log,omitempty"` // of containers that are not well

	pod *v1.Pod // nil while the agent has not taken it up
}

// onceView is one look at everything.
type onceView struct {
	sources   []api.Source
	pods      []oncePod       // wanted ones, in order
	wanted    map[string]bool // their UIDs
	attempted bool            // every source has been tried, well or badly
	holding   bool            // some source cannot say all that it wants
}

// judge compares what the sources want with what the agent shows. A pod that is
// to run for ever is good when it is ready, any other when it has succeeded.
func judge(statuses []sources.Status, shown []*v1.Pod) onceView {
	byUID := map[string]*v1.Pod{}
	for _, p := range shown {
		byUID[string(p.UID)] = p
	}
	view := onceView{wanted: map[string]bool{}, attempted: true}
	taken := map[string]bool{}
	for _, s := range statuses {
		source := sourceViewOf(s)
		view.sources = append(view.sources, source)
		view.attempted = view.attempted && s.Attempted
		view.holding = view.holding || !s.Live || len(source.Problems()) > 0
		for _, p := range s.Pods {
			if taken[p.FullName()] { // an earlier place has the name
				continue
			}
			taken[p.FullName()] = true
			view.wanted[string(p.UID)] = true
			view.pods = append(view.pods, judgePod(p, byUID[string(p.UID)]))
		}
	}
	return view
}

func judgePod(want sources.Pod, shown *v1.Pod) oncePod {
	o := oncePod{
		Namespace: want.Namespace, Name: want.Name, UID: string(want.UID), Source: want.Origin.Source,
		Manifest: originPlace(want.Origin), Revision: want.Origin.Revision, Result: resultWaiting, Status: "Pending", pod: shown,
	}
	if shown == nil {
		return o
	}
	o.Phase = string(shown.Status.Phase)
	o.Status, _, _, _, _ = status.Reason(shown)
	o.Message = cli.Explanation(shown)
	switch forever := shown.Spec.RestartPolicy == v1.RestartPolicyAlways; {
	case shown.Status.Phase == v1.PodFailed:
		o.Result = resultFailed
	case forever && cli.Ready(shown):
		o.Result = resultReady
	case !forever && shown.Status.Phase == v1.PodSucceeded:
		o.Result = resultDone
	}
	return o
}

// over reports whether every source has been tried and every pod is at its end.
func (v onceView) over() bool {
	for _, p := range v.pods {
		if p.Result == resultWaiting {
			return false
		}
	}
	return v.attempted
}

// state differs whenever something has happened to a pod.
func (v onceView) state() string {
	var text strings.Builder
	for _, p := range v.pods {
		text.WriteString(p.UID + string(p.Result))
		if p.pod != nil {
			for _, c := range p.pod.Status.ContainerStatuses {
				fmt.Fprintf(&text, " %s#%d", c.ContainerID, c.RestartCount)
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// exitCode is 0 when all is good, 1 when some pod or unit is not, and 2 when
// there are faults and nothing at all is in force.
func (v onceView) exitCode() int {
	faulty, inForce, good := false, false, true
	for _, s := range v.sources {
		faulty = faulty || len(s.Problems()) > 0 || s.Held != "" || !s.Attempted
		for _, u := range s.Units {
			inForce = inForce || u.Revision != ""
		}
	}
	for _, p := range v.pods {
		good = good && p.Result.good()
	}
	switch {
	case faulty && !inForce:
		return cli.ExitConfig
	case faulty || !good:
		return cli.ExitFailed
	}
	return 0
}
