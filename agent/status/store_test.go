package status

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func stored(namespace, name, uid string, age int) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(at(age)),
	}}
}

func TestStoreKeepsCopies(t *testing.T) {
	s := NewStore()
	mine := stored("default", "lamp", "u1", 0)
	mine.Labels = map[string]string{"lit": "no"}
	s.Set(mine)
	mine.Labels["lit"] = "yes"
	got, ok := s.Get("u1")
	if !ok || got.Labels["lit"] != "no" {
		t.Errorf("the store shares the caller's pod: %v, %v", got, ok)
	}
	s.Set(mine)
	if got.Labels["lit"] != "no" {
		t.Error("a pod that was read changed")
	}
	if newest, _ := s.Get("u1"); newest.Labels["lit"] != "yes" {
		t.Error("the newest was not kept")
	}
}

func TestStoreCountsChanges(t *testing.T) {
	s := NewStore()
	s.Set(stored("default", "lamp", "u1", 0))
	s.Set(stored("default", "kiln", "u2", 0))
	changed := s.Changed()
	s.Set(stored("default", "lamp", "u1", 0))
	s.Delete("unknown")
	select {
	case <-changed:
		t.Error("woken although nothing changed")
	default:
	}
	if s.Version() != 2 {
		t.Errorf("version %d, want 2", s.Version())
	}
	lit := stored("default", "lamp", "u1", 0)
	lit.Status.Phase = v1.PodRunning
	s.Set(lit)
	<-changed
	if got, _ := s.Get("u1"); got.ResourceVersion != "3" {
		t.Errorf("resourceVersion %s, want 3", got.ResourceVersion)
	}
	if got, _ := s.Get("u2"); got.ResourceVersion != "2" {
		t.Errorf("resourceVersion of the other %s, want 2", got.ResourceVersion)
	}
	again := s.Changed()
	s.Delete("u1")
	<-again
	if _, ok := s.Get("u1"); ok || s.Version() != 4 {
		t.Errorf("still there, or version %d, want 4", s.Version())
	}
}

func TestStoreListsInOrder(t *testing.T) {
	s := NewStore()
	for _, pod := range []*v1.Pod{
		stored("b", "a", "u1", 0), stored("a", "b", "u2", 0), stored("a", "a", "u4", 2), stored("a", "a", "u3", 1), stored("a", "a", "u0", 2),
	} {
		s.Set(pod)
	}
	var uids []string
	for _, pod := range s.List() {
		uids = append(uids, string(pod.UID))
	}
	if got := strings.Join(uids, " "); got != "u3 u0 u4 u2 u1" {
		t.Errorf("order %s", got)
	}
}

func TestStoreWatcherMissesNothing(t *testing.T) {
	const pods = 200
	s := NewStore()
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range pods {
			s.Set(stored("default", fmt.Sprint(i), fmt.Sprint(i), 0))
		}
	})
	deadline := time.After(30 * time.Second)
	for {
		changed := s.Changed()
		if len(s.List()) == pods {
			break
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("a change was missed")
		}
	}
	wg.Wait()
}
