package status

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Store keeps the newest pod with its status per UID. Its pods are deep copies
// that nobody may change, so that readers share them without a lock.
type Store struct {
	mu      sync.Mutex
	pods    map[string]*v1.Pod
	version uint64
	changed chan struct{} // closed at the next change; nil while nobody waits
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{pods: map[string]*v1.Pod{}} }

// Set keeps a copy of the pod in place of the one of its UID. A pod equal to
// the kept one changes nothing and wakes nobody.
func (s *Store) Set(pod *v1.Pod) {
	pod = pod.DeepCopy()
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept, ok := s.pods[string(pod.UID)]; ok {
		pod.ResourceVersion = kept.ResourceVersion
		if equality.Semantic.DeepEqual(kept, pod) {
			return
		}
	}
	s.turn()
	pod.ResourceVersion = strconv.FormatUint(s.version, 10)
	s.pods[string(pod.UID)] = pod
}

// Delete forgets a pod; forgetting an unknown one is fine.
func (s *Store) Delete(uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.pods[uid]; ok {
		delete(s.pods, uid)
		s.turn()
	}
}

// Get returns the pod of a UID. Read only.
func (s *Store) Get(uid string) (*v1.Pod, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod, ok := s.pods[uid]
	return pod, ok
}

// List returns all pods by namespace, name and age. Read only.
func (s *Store) List() []*v1.Pod {
	s.mu.Lock()
	all := make([]*v1.Pod, 0, len(s.pods))
	for _, pod := range s.pods {
		all = append(all, pod)
	}
	s.mu.Unlock()
	slices.SortFunc(all, byName)
	return all
}

// byName orders pods by namespace, name, age and UID: a pod and its successor
// bear one name.
func byName(a, b *v1.Pod) int {
	return cmp.Or(
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		strings.Compare(string(a.UID), string(b.UID)),
	)
}

// Version counts the changes; a pod bears the count of its own newest change
// as resourceVersion.
func (s *Store) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Changed returns a channel that is closed at the next change. Take it before
// List, and no change is missed.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// turn counts a change and wakes those who wait for it. The lock is held.
func (s *Store) turn() {
	s.version++
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}
