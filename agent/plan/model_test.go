package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// model is an engine and a worker small enough to be believed: what was made, a
// clock, and the worker's memory. Init containers end well after a second; the
// others run until they are signalled, and then take a second.
type model struct {
	t       *testing.T
	pod     *v1.Pod
	boxes   []runtime.Sandbox
	made    []runtime.Container
	dying   map[string]time.Duration // by container ID: when it will have ended
	now     time.Duration
	started map[string]int // runs by container name

	gate    Gate
	objects map[string]Objects
	history History
	stops   map[string]Stop
	acts    int
	fault   fault
}

// fault is what happens to the nth action.
type fault struct {
	nth  int
	what string
}

// The ways in which an action goes wrong.
const (
	lost         = "not done, an error"
	doneFailed   = "done, an error"
	killedBefore = "the agent is killed before it"
	killedAfter  = "the agent is killed after it"
	prunedAfter  = "the engine is pruned after it"
)

var (
	errFault  = errors.New("fault")
	errKilled = errors.New("killed")
)

func newModel(t *testing.T, pod *v1.Pod) *model {
	return &model{t: t, pod: pod, dying: map[string]time.Duration{}, started: map[string]int{}, gate: GateRun, history: NewHistory(), stops: map[string]Stop{}}
}

func (m *model) observe() runtime.Pod {
	for i := range m.made {
		c := &m.made[i]
		if end, ok := m.dying[c.ID]; ok && end <= m.now && c.State == isRunning {
			c.State, c.FinishedAt = isExited, epoch.Add(end)
		}
	}
	var things []any
	for _, b := range slices.Backward(m.boxes) {
		things = append(things, b)
	}
	for _, c := range slices.Backward(m.made) {
		things = append(things, c)
	}
	return shows(things...)
}

func (m *model) look() runtime.Pod {
	obs := m.observe()
	m.history, _, _ = m.history.Observe(m.pod, obs, at(m.now))
	return obs
}

func (m *model) sync() Decision {
	in := input(m.pod, m.look(), at(m.now))
	in.Gate, in.History, in.Stops = m.gate, m.history, m.stops
	in.Objects, in.RestartOnChange = m.objects, true
	return Sync(in)
}

func (m *model) terminate() Decision {
	return Terminate(TerminateInput{Pod: m.pod, Observed: m.look(), Stops: m.stops, Grace: 5 * time.Second, Reclaim: true, Now: at(m.now)})
}

// settle does what is decided until it is done.
func (m *model) settle(decide func() Decision, done func(Decision) bool) {
	m.t.Helper()
	var trace []string
	for range 300 {
		d := decide()
		if done(d) && len(d.Steps) == 0 {
			return
		}
		trace = append(trace, fmt.Sprintf("%v %q wake %v", m.now, told(d), d.Wake))
		m.carryOut(d)
		m.now += 500 * time.Millisecond
	}
	m.t.Fatalf("does not settle:\n%s", strings.Join(trace, "\n"))
}

func ready(d Decision) bool    { return d.Ready }
func gone(d Decision) bool     { return d.Gone }
func finished(d Decision) bool { return d.Finished != nil }

// carryOut is the worker: it heeds what Decision says of failing actions, and
// a kill takes all that is not in the record.
func (m *model) carryOut(d Decision) {
	ids, broken := map[string]string{}, map[string]bool{}
	for _, step := range d.Steps {
		for _, a := range step {
			if broken[a.Container] {
				continue
			}
			switch err := m.act(a, ids); {
			case errors.Is(err, errKilled):
				m.restart()
				return
			case err != nil && (a.Container == "" || a.Init):
				return
			case err != nil:
				broken[a.Container] = true
			}
		}
	}
}

func (m *model) act(a Action, ids map[string]string) error {
	m.remember(a)
	m.acts++
	hit := ""
	if m.acts == m.fault.nth {
		hit = m.fault.what
	}
	switch hit {
	case lost:
		return errFault
	case killedBefore:
		return errKilled
	}
	err := m.do(a, ids)
	switch hit {
	case doneFailed:
		return errFault
	case killedAfter:
		return errKilled
	case prunedAfter:
		m.prune()
	}
	if err == nil && a.Verb == Signal {
		m.stops[a.ID] = Stop{Signalled: at(m.now), Grace: a.Grace}
	}
	return err
}

// remember is what is to be in the record before an action.
func (m *model) remember(a Action) {
	switch now, uses := m.objects[a.Container]; {
	case a.Verb == CreateContainer && uses:
		m.history = m.history.WithMade(a.Container, Made{a.Attempt, now.Digest})
	case a.Verb == Signal && a.Reason.Restarts():
		m.history = m.history.WithRestart(a.Container, Restart{Attempt: a.Attempt - 1, Reason: a.Reason, Message: a.Message})
	}
}

// see lets the regular containers, and an init container, see such objects.
func (m *model) see(digest string) {
	m.objects = map[string]Objects{"get": {Digest: digest}, "web": {Digest: digest}, "log": {Digest: digest}}
}

// restart is the agent's: the record is all that is left.
func (m *model) restart() {
	data, err := json.Marshal(m.history)
	if err != nil {
		m.t.Fatal(err)
	}
	m.history = History{}
	if err := json.Unmarshal(data, &m.history); err != nil {
		m.t.Fatal(err)
	}
	m.stops = map[string]Stop{}
}

func (m *model) do(a Action, ids map[string]string) error {
	id := a.ID
	if id == "" {
		id = ids[a.Container]
	}
	switch a.Verb {
	case CreateSandbox:
		b := box(a.Attempt, isCreated)
		if m.box(b.ID) == nil {
			m.boxes = append(m.boxes, b)
		}
		ids[""] = b.ID
	case StartSandbox:
		return m.startBox(id)
	case CreateContainer:
		return m.create(a, ids)
	case StartContainer:
		return m.start(a, id)
	case Signal:
		m.signal(id, a.Signal)
	case Remove:
		m.remove(id)
	}
	return nil
}

func (m *model) startBox(id string) error {
	b := m.box(id)
	if b == nil || b.State == isExited {
		return runtime.ErrSandboxGone
	}
	b.State, b.StartedAt, b.IPs = isRunning, epoch.Add(m.now), []string{"10.112.0.2"}
	return nil
}

func (m *model) create(a Action, ids map[string]string) error {
	home := ids[""]
	if home == "" && len(m.boxes) > 0 {
		home = m.boxes[len(m.boxes)-1].ID
	}
	if m.box(home) == nil { // pruned meanwhile
		return runtime.ErrSandboxGone
	}
	c := instance(a.Container, a.Attempt, 0, isCreated)
	c.SandboxID = home
	if have := m.container(c.ID); have == nil {
		m.made = append(m.made, c)
	} else if have.SandboxID != home {
		return errors.New("name in use")
	}
	ids[a.Container] = c.ID
	return nil
}

func (m *model) start(a Action, id string) error {
	c := m.container(id)
	if c == nil {
		return runtime.ErrNotFound
	}
	if b := m.box(c.SandboxID); b == nil || b.State != isRunning {
		return runtime.ErrSandboxGone
	}
	if c.State != isCreated {
		return nil
	}
	c.State, c.StartedAt = isRunning, epoch.Add(m.now)
	m.started[a.Container]++
	if a.Init {
		m.dying[id] = m.now + time.Second
	}
	return nil
}

func (m *model) signal(id, signal string) {
	if b := m.box(id); b != nil && b.State == isRunning {
		m.killBox(b)
	}
	if c := m.container(id); c != nil && c.State == isRunning {
		c.ExitCode, c.Reason = 143, "Error"
		m.dying[id] = m.now + time.Second
		if signal == signalKill {
			m.dying[id] = m.now
		}
	}
}

func (m *model) killBox(b *runtime.Sandbox) {
	b.State, b.FinishedAt, b.IPs = isExited, epoch.Add(m.now), nil
}

func (m *model) remove(id string) {
	m.boxes = slices.DeleteFunc(m.boxes, func(b runtime.Sandbox) bool { return b.ID == id })
	m.made = slices.DeleteFunc(m.made, func(c runtime.Container) bool { return c.ID == id })
}

func (m *model) prune() {
	m.observe()
	m.boxes = slices.DeleteFunc(m.boxes, func(b runtime.Sandbox) bool { return b.State != isRunning })
	m.made = slices.DeleteFunc(m.made, func(c runtime.Container) bool { return c.State != isRunning })
}

// reboot ends all that runs.
func (m *model) reboot() {
	for i := range m.boxes {
		if m.boxes[i].State == isRunning {
			m.killBox(&m.boxes[i])
		}
	}
	for i := range m.made {
		if c := &m.made[i]; c.State == isRunning {
			c.State, c.FinishedAt, c.ExitCode, c.Reason = isExited, epoch.Add(m.now), 255, "Error"
		}
	}
	m.restart()
}

func (m *model) box(id string) *runtime.Sandbox {
	for i := range m.boxes {
		if m.boxes[i].ID == id {
			return &m.boxes[i]
		}
	}
	return nil
}

func (m *model) container(id string) *runtime.Container {
	for i := range m.made {
		if m.made[i].ID == id {
			return &m.made[i]
		}
	}
	return nil
}

// state is what counts at the end: what runs, in how many sandboxes, and what
// lies about.
func (m *model) state() string {
	var lines []string
	homes := map[string]bool{}
	dead := map[string]int{}
	for _, c := range m.made {
		switch c.State {
		case isRunning:
			lines = append(lines, c.Name+" runs")
			homes[c.SandboxID] = true
		case isCreated:
			lines = append(lines, c.Name+" was never started")
		default:
			dead[c.Name]++
		}
	}
	slices.Sort(lines)
	running := 0
	for _, b := range m.boxes {
		if b.State == isRunning {
			running++
		}
	}
	for name, n := range dead {
		if n > 1 {
			lines = append(lines, fmt.Sprintf("%s has %d dead instances", name, n))
		}
	}
	return fmt.Sprintf("%d sandboxes run, containers in %d, %v", running, len(homes), lines)
}
