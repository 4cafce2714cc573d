package events

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func lamp() *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "lamp-n1", UID: "u1"},
		Spec: v1.PodSpec{
			InitContainers: []v1.Container{{Name: "prepare"}},
			Containers:     []v1.Container{{Name: "main"}},
		},
	}
}

// clock is set by hand.
type clock struct{ now time.Time }

func newClock() *clock               { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }
func (c *clock) Now() time.Time      { return c.now }
func (c *clock) add(d time.Duration) { c.now = c.now.Add(d) }

func lines(events []v1.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %s %s x%d\n", e.InvolvedObject.Name, e.Reason, e.Message, e.Count)
	}
	return b.String()
}

func TestRepeatsAreCountedAndMoveToTheEnd(t *testing.T) {
	c := newClock()
	r := New(Config{Node: "n1", Clock: c.Now})
	first := c.now
	r.Event(Container(lamp(), "main"), v1.EventTypeWarning, ContainerBackOff, "again")
	r.Event(Pod(lamp()), v1.EventTypeNormal, SandboxChanged, "new sandbox")
	c.add(time.Minute)
	r.Event(Container(lamp(), "main"), v1.EventTypeWarning, ContainerBackOff, "again")
	r.Event(Container(lamp(), "main"), v1.EventTypeWarning, ContainerBackOff, "another text")

	got := r.List(Filter{})
	want := "lamp-n1 SandboxChanged new sandbox x1\nlamp-n1 BackOff again x2\nlamp-n1 BackOff another text x1\n"
	if lines(got) != want {
		t.Fatalf("got\n%swant\n%s", lines(got), want)
	}
	again := got[1]
	if !again.FirstTimestamp.Time.Equal(first) || !again.LastTimestamp.Time.Equal(c.now) {
		t.Errorf("first %v, last %v", again.FirstTimestamp, again.LastTimestamp)
	}
	if again.Source != (v1.EventSource{Component: "podstead", Host: "n1"}) {
		t.Errorf("source = %+v", again.Source)
	}
}

func TestEventsKeepTheirObjectsApart(t *testing.T) {
	r := New(Config{})
	r.Event(Container(lamp(), "main"), v1.EventTypeNormal, ContainerStarted, "Started container")
	r.Event(Container(lamp(), "prepare"), v1.EventTypeNormal, ContainerStarted, "Started container")
	r.Event(Node("n1"), v1.EventTypeNormal, NodeStarting, "up")
	r.Event(Source("site"), v1.EventTypeWarning, "SourceFailed", "gone")
	got := r.List(Filter{})
	if len(got) != 4 {
		t.Fatalf("got %d events, want 4", len(got))
	}
	if a, b := got[0].InvolvedObject.FieldPath, got[1].InvolvedObject.FieldPath; a != "spec.containers{main}" || b != "spec.initContainers{prepare}" {
		t.Errorf("field paths %q, %q", a, b)
	}
	names := map[string]bool{}
	for _, e := range got {
		names[e.Name] = true
	}
	if len(names) != 4 {
		t.Errorf("names are not unique: %v", names)
	}
}

func TestFilter(t *testing.T) {
	r := New(Config{})
	r.Event(Pod(lamp()), v1.EventTypeNormal, ContainerStarted, "m")
	r.Event(Node("n1"), v1.EventTypeNormal, NodeStarting, "m")
	r.Event(Source("site"), v1.EventTypeNormal, "Synced", "m")
	tests := []struct {
		name   string
		filter Filter
		want   string
	}{
		{name: "kind", filter: Filter{Kind: KindNode}, want: "n1 Starting m x1\n"},
		{name: "namespace", filter: Filter{Namespace: "shop"}, want: "lamp-n1 Started m x1\n"},
		{name: "name", filter: Filter{Name: "site"}, want: "site Synced m x1\n"},
		{name: "uid", filter: Filter{UID: "u1"}, want: "lamp-n1 Started m x1\n"},
		{name: "all must match", filter: Filter{Kind: KindPod, Name: "site"}, want: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := lines(r.List(test.filter)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestOldEventsGo(t *testing.T) {
	c := newClock()
	r := New(Config{Clock: c.Now})
	r.Event(Node("n1"), v1.EventTypeNormal, "A", "once")
	r.Event(Node("n1"), v1.EventTypeNormal, "B", "repeated")
	c.add(50 * time.Minute)
	r.Event(Node("n1"), v1.EventTypeNormal, "B", "repeated")
	c.add(20 * time.Minute)
	if got, want := lines(r.List(Filter{})), "n1 B repeated x2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.add(2 * time.Hour)
	if got := r.List(Filter{}); got != nil {
		t.Errorf("got %q, want none", lines(got))
	}
	if len(r.kept) != 0 {
		t.Errorf("%d keys are left behind", len(r.kept))
	}
}

func TestMemoryIsBounded(t *testing.T) {
	r := New(Config{Clock: newClock().Now})
	for i := range keepEvents + 100 {
		r.Event(Node("n1"), v1.EventTypeNormal, "Flood", fmt.Sprint(i))
	}
	got := r.List(Filter{})
	if len(got) != keepEvents || len(r.kept) != keepEvents {
		t.Fatalf("%d events, %d keys, want %d", len(got), len(r.kept), keepEvents)
	}
	if got[0].Message != "100" {
		t.Errorf("the oldest kept is %s, want 100", got[0].Message)
	}
	r.Event(Node("n1"), v1.EventTypeNormal, "Long", strings.Repeat("é", 10_000))
	long := r.List(Filter{})[keepEvents-1].Message
	if len(long) > messageBytes || !strings.HasSuffix(long, "é...") {
		t.Errorf("message of %d bytes ends in %q", len(long), long[len(long)-6:])
	}
}

func TestNewEventsAreLoggedOnce(t *testing.T) {
	var out bytes.Buffer
	plain := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	r := New(Config{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: plain}))})
	for range 3 {
		r.Event(Container(lamp(), "main"), v1.EventTypeWarning, ContainerFailed, "no such command")
		r.Event(Source("site"), v1.EventTypeNormal, "Synced", "one pod")
	}
	want := `level=WARN msg=event pod=shop/lamp-n1 uid=u1 container=main reason=Failed message="no such command"
level=INFO msg=event source=site reason=Synced message="one pod"
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestChangedWakesWaiters(t *testing.T) {
	r := New(Config{})
	changed := r.Changed()
	select {
	case <-changed:
		t.Fatal("woken without an event")
	default:
	}
	r.Event(Node("n1"), v1.EventTypeNormal, "A", "m")
	<-changed
	repeat := r.Changed()
	r.Event(Node("n1"), v1.EventTypeNormal, "A", "m")
	<-repeat
}

func TestConcurrentUse(t *testing.T) {
	r := New(Config{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				r.Event(Node("n1"), v1.EventTypeNormal, "A", fmt.Sprint(i, j%10))
				r.List(Filter{})
				r.Changed()
			}
		})
	}
	wg.Wait()
	total := int32(0)
	for _, e := range r.List(Filter{}) {
		total += e.Count
	}
	if total != 8*200 {
		t.Errorf("%d counted, want %d", total, 8*200)
	}
}
