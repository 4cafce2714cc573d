// Package nodelogs shows the logs of containers where a kubelet does, so that
// log shippers made for Kubernetes nodes find them:
//
//	<pods>/<namespace>_<pod>_<uid>/<container>/<attempt>.log    to the engine's own file
//	<containers>/<pod>_<namespace>_<container>-<id>.log         to the link above
//
// In goes what the engine shows of a pod, out come links and nothing else: no
// line is copied. The disk is the only state that counts. A link is taken away
// once it leads nowhere, which is when the engine has removed the container, and
// only from folders of pods that are asked for or that bear this node's mark; what
// a kubelet or another agent keeps beside them is never touched.
package nodelogs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// DefaultContainers is the kubelet's constant.
const DefaultContainers = "/var/log/containers"

// Config says where the links are. Both folders are made when first needed.
type Config struct {
	Pods       string // the kubelet's podLogsDir
	Containers string
	// Owner is the id of the node. It marks the folders of its pods, by which a
	// later life knows its own whose record is gone.
	Owner string
}

// Pod names a pod; Name is the full one.
type Pod struct {
	Namespace, Name, UID string
}

// Log is the log of one instance of a container.
type Log struct {
	Container string
	Attempt   int
	ID        string // of the engine's container
	Path      string // of the engine's file, absolute
}

// NodeLogs makes and removes the links. Its methods may be called side by side.
type NodeLogs struct {
	cfg   Config
	mu    sync.Mutex
	pods  map[string]*shown              // by UID
	found map[string]map[string]struct{} // what Sweep has left in the containers' folder, by the pod's folder
}

// shown is a pod as it was last asked for.
type shown struct {
	pod    Pod
	logs   []Log
	done   bool                // the disk is so, unless somebody else has changed it
	beside map[string]struct{} // names in the containers' folder that this life has made or found
}

// New returns the links of a node; it touches nothing.
func New(cfg Config) *NodeLogs {
	cfg.Pods, cfg.Containers = filepath.Clean(cfg.Pods), filepath.Clean(cfg.Containers)
	return &NodeLogs{cfg: cfg, pods: map[string]*shown{}, found: map[string]map[string]struct{}{}}
}

// ErrUnseen is an engine whose log files are not to be seen from here: it is on
// another machine, or its folder is not in this mount namespace.
var ErrUnseen = errors.New("the engine's log files are not to be seen from here")

// Show makes the links of a pod those of these logs. It costs nothing when the
// logs are as at the last call that worked. A log whose file is not there, because
// the container has gone since or has never had one, is left out. Errors are those
// of the file system (full, read-only) and ErrUnseen; what could be done is done.
func (n *NodeLogs) Show(pod Pod, logs []Log) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.pods[pod.UID]
	if s == nil {
		s = n.meet(pod)
	}
	if s.done && slices.Equal(s.logs, logs) {
		return nil
	}
	s.logs = slices.Clone(logs)
	_, err := n.settle(s)
	return err
}

// meet begins with a pod, and with what an earlier life has left of it.
func (n *NodeLogs) meet(pod Pod) *shown {
	s := &shown{pod: pod, beside: n.found[pod.folder()]}
	delete(n.found, pod.folder())
	if s.beside == nil {
		s.beside = map[string]struct{}{}
	}
	n.pods[pod.UID] = s
	return s
}

// Hide takes away the links of a pod whose containers are gone, and its folder.
// A pod without links is a success.
func (n *NodeLogs) Hide(pod Pod) error {
	err := n.Show(pod, nil)
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.pods, pod.UID)
	return err
}

// Restore puts back what somebody else has taken away since, and tries again what
// failed. It returns how many links of pods that were in order had to be made, and
// the first of the errors.
func (n *NodeLogs) Restore() (missing int, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	err = n.makeFolders()
	for _, s := range n.pods {
		was := s.done
		made, fault := n.settle(s)
		if was {
			missing += made
		}
		if err == nil {
			err = fault
		}
	}
	return missing, err
}

// settle makes the disk what the pod's logs are, and returns how many links it
// has made for that. What leads nowhere goes first: through a name that is used
// again it would lead to another's log.
func (n *NodeLogs) settle(s *shown) (made int, err error) {
	err = n.clear(s)
	made, fault := n.link(s)
	if fault != nil {
		err = fault
	}
	s.done = err == nil
	if err != nil && !errors.Is(err, ErrUnseen) {
		err = fmt.Errorf("link the logs of pod %s/%s: %w", s.pod.Namespace, s.pod.Name, err)
	}
	return made, err
}
