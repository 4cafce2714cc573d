package plan

import (
	"time"

	"github.com/podstead/podstead/runtime"
)

const (
	// graceFloor lies between TERM and KILL at the least, as in the kubelet.
	graceFloor = 2 * time.Second
	// sandboxGrace is a sandbox's: its pause process leaves on TERM at once.
	sandboxGrace = graceFloor

	signalTerm = "TERM"
	signalKill = "KILL"
)

// stopping collects the signals that are due for what has to stop.
type stopping struct {
	stops   map[string]Stop
	now     Moment
	reason  Reason
	message string

	signals []Action
	wake    time.Duration // until the next signal may be due; 0 when nothing stops
}

func (s *stopping) container(c runtime.Container, init bool, grace time.Duration) {
	signal := c.StopSignal
	if signal == "" {
		signal = signalTerm
	}
	s.add(Action{Verb: Signal, Container: c.Name, Init: init, ID: c.ID, Signal: signal, Grace: grace})
}

func (s *stopping) sandbox(b runtime.Sandbox) {
	s.add(Action{Verb: Signal, ID: b.ID, Signal: signalTerm, Grace: sandboxGrace})
}

// add decides what the thing that a names gets now. Its grace is what it would
// have if it were signalled now; one under way can only become shorter.
func (s *stopping) add(a Action) {
	a.Reason, a.Message = s.reason, s.message
	under, signalled := s.stops[a.ID]
	switch {
	case !signalled && a.Grace > 0:
		s.send(a)
		return
	case !signalled, under.Grace > 0 && a.Grace <= 0:
		s.kill(a)
		return
	}
	limit := max(min(under.Grace, a.Grace), graceFloor)
	if left := limit - s.now.After(under.Signalled, limit); left > 0 {
		s.lookIn(left)
		return
	}
	a.Reason, a.Message = ReasonGraceExpired, "still running "+limit.String()+" after its last signal"
	s.kill(a)
}

func (s *stopping) kill(a Action) {
	a.Signal, a.Grace = signalKill, 0
	s.send(a)
}

func (s *stopping) send(a Action) {
	s.signals = append(s.signals, a)
	s.lookIn(max(a.Grace, graceFloor))
}

func (s *stopping) lookIn(d time.Duration) {
	if s.wake == 0 || d < s.wake {
		s.wake = d
	}
}

// busy reports that something has yet to stop.
func (s *stopping) busy() bool { return s.wake > 0 }
