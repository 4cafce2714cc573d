// Package runtimetest has what tests need in place of a container engine: Fake,
// a stateful engine in memory with the verbs of docker.Manager, whose processes
// live, die and misbehave as told and whose calls fail, hang or answer late on
// demand; and Contract, the suite that the fake and a real engine both pass.
//
// A Fake starts no goroutine; its processes live on timers, so that it works
// inside testing/synctest bubbles. It is safe for concurrent use.
package runtimetest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/podstead/podstead/runtime"
)

// Fake is an engine in memory.
type Fake struct {
	clock func() time.Time

	mu      sync.Mutex
	made    int                  // objects ever made
	objects map[string]*object   // by ID
	names   map[string]*object   // by the engine's name; nil for a foreign container
	pods    map[string][]*object // by pod UID, oldest first

	info     runtime.Engine
	rootErr  error
	mountWhy string
	logDir   string // of the containers' log files; "" for none

	behaviours map[string][]Process // by "pod/container", container, image or command
	starts     map[string]int       // starts so far, by pod UID and container
	images     map[string]runtime.Image
	remotes    map[string]*Remote
	notes      []runtime.Degraded

	loads     map[string]load // by the keys of behaviours; nil for none
	listeners map[port]string // TCP addresses; nil for none

	programs map[string]Program // by command line or first word; nil for none
	visits   []*visit           // execs and attachments

	namesakes    []runtime.Namesake
	foreignPorts []runtime.PortMapping
	netLimit     int // sandboxes on the bridge; 0 for no limit
	addresses    int // given out so far

	down    bool
	frozen  chan struct{} // closed by Thaw; nil while the engine answers
	broken  bool          // the event stream is interrupted
	muted   bool          // events are lost without a word
	faults  []*Fault
	guard   func() bool // asked before each change; nil for none
	journal []*Call
	streams map[*stream]struct{}
}

// object is one container or sandbox.
type object struct {
	id, name, uid string
	seq           int
	box           *runtime.SandboxConfig   // of a sandbox
	cfg           *runtime.ContainerConfig // of a container

	state                            runtime.State
	createdAt, startedAt, finishedAt time.Time
	code                             int
	reason, message                  string
	ips                              []string
	unplugged                        bool // its network was pruned

	files   map[string]file // by absolute path; nil for none
	uidGid  [2]int          // as whom it runs
	workDir string

	process Process
	timer   *time.Timer // of the end that is due
	lines   []line
	logPath string
	changed chan struct{} // closed and replaced when the log grows or the process ends
}

// New returns an engine that runs nothing and has no image. The clock stamps
// what it makes; time.Now does, inside a bubble too.
func New(clock func() time.Time) *Fake {
	return &Fake{
		clock:   clock,
		objects: map[string]*object{},
		names:   map[string]*object{},
		pods:    map[string][]*object{},
		info: runtime.Engine{
			Name: "docker", Version: "20.10.24", APIVersion: "1.41", OS: "linux", Architecture: "amd64",
			CPUs: 4, Memory: 8 << 30, CgroupDriver: "cgroupfs", RootDir: "/var/lib/docker",
		},
		behaviours: map[string][]Process{},
		starts:     map[string]int{},
		images:     map[string]runtime.Image{},
		remotes:    map[string]*Remote{},
		streams:    map[*stream]struct{}{},
	}
}

// add makes an object. A name that something foreign has gets a suffix.
func (f *Fake) add(ref runtime.PodRef, part string, attempt int) *object {
	f.made++
	name := engineName(ref, part, attempt)
	if o, taken := f.names[name]; taken && o == nil {
		name += fmt.Sprintf("_%x", f.made)
	}
	o := &object{
		id:        fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", name, f.made))),
		name:      name,
		uid:       ref.UID,
		seq:       f.made,
		state:     runtime.StateCreated,
		createdAt: f.clock(),
		changed:   make(chan struct{}),
	}
	f.objects[o.id], f.names[name] = o, o
	f.pods[ref.UID] = append(f.pods[ref.UID], o)
	return o
}

// drop takes an object away, whatever it does.
func (f *Fake) drop(o *object) {
	o.stopTimer()
	if o.state == runtime.StateRunning {
		f.die(o, 137, "")
	}
	f.dropLog(o)
	delete(f.objects, o.id)
	delete(f.names, o.name)
	f.pods[o.uid] = slices.DeleteFunc(f.pods[o.uid], func(other *object) bool { return other == o })
	if len(f.pods[o.uid]) == 0 {
		delete(f.pods, o.uid)
	}
	o.notify()
	f.emit(runtime.EventRemoved, o)
}

// engineName is the classic name of the kubelet's containers.
func engineName(ref runtime.PodRef, part string, attempt int) string {
	return fmt.Sprintf("k8s_%s_%s_%s_%s_%d", part, ref.Name, ref.Namespace, ref.UID, attempt)
}

// part is the container's name, or Pause.
func (o *object) part() string {
	if o.cfg != nil {
		return o.cfg.Name
	}
	return Pause
}

func (o *object) ref() runtime.PodRef {
	if o.cfg != nil {
		return o.cfg.Pod
	}
	return o.box.Pod
}

func (o *object) notify() {
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *object) stopTimer() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}
