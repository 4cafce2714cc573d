package runtimetest

import (
	"os"
	"strings"
	"time"

	"github.com/podstead/podstead/runtime"
)

// Pause is the name under which Behave knows the sandboxes' process.
const Pause = "POD"

// Process is how a container's process behaves. The zero value is Forever.
type Process struct {
	refused int
	ends    *exit // by itself
	term    *exit // when it gets the stop signal
	deaf    bool
	oom     bool
	output  []string
	errors  []string
	message string
	says    string // again and again
	every   time.Duration
}

type exit struct {
	after time.Duration
	code  int
}

// Forever runs until it is signalled, and then ends at once: with code 143, as
// who does not catch TERM.
func Forever() Process { return Process{} }

// Exits ends by itself, that long after its start.
func Exits(after time.Duration, code int) Process { return Process{ends: &exit{after, code}} }

// Traps catches the stop signal and ends that long after it.
func Traps(after time.Duration, code int) Process { return Process{term: &exit{after, code}} }

// Deaf ignores the stop signal.
func Deaf() Process { return Process{deaf: true} }

// CannotRun is refused by the engine: 127 for no such command, 126 for no permission.
func CannotRun(code int) Process { return Process{refused: code} }

// OOM is killed that long after its start because it uses too much memory.
func OOM(after time.Duration) Process { return Process{ends: &exit{after, 137}, oom: true} }

// Printing writes the lines to stdout when it starts.
func (p Process) Printing(lines ...string) Process {
	p.output = lines
	return p
}

// Complaining writes the lines to stderr when it starts.
func (p Process) Complaining(lines ...string) Process {
	p.errors = lines
	return p
}

// Repeating writes the line to stdout each time that d has passed.
func (p Process) Repeating(d time.Duration, line string) Process {
	p.says, p.every = line, d
	return p
}

// Saying leaves a termination message when it ends.
func (p Process) Saying(message string) Process {
	p.message = message
	return p
}

// Trapping catches the stop signal, whatever else the process does.
func (p Process) Trapping(after time.Duration, code int) Process {
	p.term = &exit{after, code}
	return p
}

// Behave says how processes behave: those of "pod/container" (the pod's full
// name), of a container name, of an image or of a command line (its words joined
// by spaces), looked up in that order. Successive starts of one pod's container
// behave as the processes say in turn, and the last one stays.
func (f *Fake) Behave(key string, processes ...Process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behaviours[key] = processes
}

func (f *Fake) processOf(o *object) Process {
	count := o.uid + "/" + o.part()
	n := f.starts[count]
	f.starts[count]++
	for _, key := range o.behaviourKeys() {
		if list := f.behaviours[key]; len(list) > 0 {
			return list[min(n, len(list)-1)]
		}
	}
	if o.box != nil {
		return Traps(0, 0)
	}
	return Forever()
}

func (o *object) behaviourKeys() []string {
	keys := []string{o.ref().Name + "/" + o.part(), o.part()}
	if o.cfg != nil {
		keys = append(keys, o.cfg.Image, strings.Join(append(append([]string{}, o.cfg.Command...), o.cfg.Args...), " "))
	}
	return keys
}

// launch starts the object's process.
func (f *Fake) launch(o *object) {
	o.state, o.startedAt = runtime.StateRunning, f.clock()
	o.code, o.reason, o.message = 0, "", ""
	for _, text := range o.process.output {
		o.lines = append(o.lines, line{at: o.startedAt, text: text})
	}
	for _, text := range o.process.errors {
		o.lines = append(o.lines, line{at: o.startedAt, text: text, stderr: true})
	}
	f.openLog(o)
	o.notify()
	f.emit(runtime.EventStarted, o)
	if o.process.every > 0 {
		f.sayLater(o, o.startedAt)
	}
	if end := o.process.ends; end != nil {
		f.dieLater(o, *end)
	}
}

// sayLater writes the process's line when it is due, for as long as this start of
// it runs.
func (f *Fake) sayLater(o *object, since time.Time) {
	time.AfterFunc(o.process.every, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if o.state != runtime.StateRunning || o.startedAt != since {
			return
		}
		o.lines = append(o.lines, line{at: f.clock(), text: o.process.says})
		o.notify()
		f.sayLater(o, since)
	})
}

// dieLater ends the process after its time, unless it ended before.
func (f *Fake) dieLater(o *object, end exit) {
	o.stopTimer()
	if end.after <= 0 {
		f.end(o, end.code)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(end.after, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if o.timer == timer && o.state == runtime.StateRunning {
			f.end(o, end.code)
		}
	})
	o.timer = timer
}

// end is the process's own end.
func (f *Fake) end(o *object, code int) {
	if o.process.message != "" && o.cfg != nil && o.cfg.MessagePath != "" {
		// Like the engine's bind mount: no file, no message.
		_ = os.WriteFile(o.cfg.MessagePath, []byte(o.process.message), 0o666)
	}
	if o.process.oom && code == 137 {
		f.emit(runtime.EventOOM, o)
		f.die(o, code, "OOMKilled")
		return
	}
	f.die(o, code, "")
}

// die makes a running object an exited one. The processes of a sandbox whose
// PID namespace they share die with it.
func (f *Fake) die(o *object, code int, reason string) {
	o.stopTimer()
	o.state, o.finishedAt, o.code, o.reason = runtime.StateExited, f.clock(), code, reason
	switch {
	case reason != "":
	case code == 0:
		o.reason = "Completed"
	default:
		o.reason = "Error"
	}
	o.ips = nil
	o.notify()
	f.expel(o, errEnded)
	f.emit(runtime.EventDied, o)
	if o.box == nil {
		return
	}
	for _, other := range f.pods[o.uid] {
		if other.cfg != nil && other.cfg.SandboxID == o.id && other.cfg.SharePID && other.state == runtime.StateRunning {
			f.die(other, 137, "")
		}
	}
}

// signal delivers one; any but KILL counts as the stop signal.
func (f *Fake) signal(o *object, signal string) {
	switch s := strings.TrimPrefix(strings.ToUpper(signal), "SIG"); {
	case o.state != runtime.StateRunning:
	case s == "KILL" || s == "9":
		f.die(o, 137, "")
	case o.process.deaf:
	case o.process.term == nil:
		f.die(o, 143, "")
	default:
		f.trap(o)
	}
}

// trap is the process's answer to the stop signal; a second one changes nothing.
func (f *Fake) trap(o *object) {
	term := *o.process.term
	o.process.term = nil
	o.process.deaf = true
	f.dieLater(o, term)
}
