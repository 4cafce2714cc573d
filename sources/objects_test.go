package sources

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/manifests"
)

// madeObject is a ConfigMap, or with "s:" before it a Secret, written
// name=content; "!" behind it makes it immutable, and "@" names its unit.
func madeObject(source, word string) Object {
	word, unit, _ := strings.Cut(word, "@")
	word, fixed := strings.CutSuffix(word, "!")
	name, content, _ := strings.Cut(word, "=")
	name, secret := strings.CutPrefix(name, "s:")
	if unit == "" {
		unit = name + ".yaml"
	}
	o := &manifests.Object{Place: manifests.Place{Unit: unit, Document: 1, Line: 3}, Digest: sha256.Sum256([]byte(content))}
	if secret {
		o.Secret = &v1.Secret{StringData: map[string]string{"is": content}, Immutable: &fixed}
		o.Secret.Namespace, o.Secret.Name = "default", name
	} else {
		o.ConfigMap = &v1.ConfigMap{Data: map[string]string{"is": content}, Immutable: &fixed}
		o.ConfigMap.Namespace, o.ConfigMap.Name = "default", name
	}
	return Object{Object: o, Origin: Origin{Source: source, Kind: Kind(source), Unit: unit, Document: 1, Line: 3}}
}

// with adds objects, each in a unit of its own, to a snapshot.
func (s Snapshot) with(objects ...string) Snapshot {
	for _, word := range objects {
		o := madeObject(s.Source, word)
		s.Objects = append(s.Objects, o)
		s.Units = append(s.Units, Unit{Name: o.Origin.Unit})
	}
	return s
}

// using makes the snapshot's last pod refer to these ConfigMaps and Secrets.
func (s Snapshot) using(names ...string) Snapshot {
	for _, name := range names {
		s.Pods[len(s.Pods)-1].Refs = append(s.Pods[len(s.Pods)-1].Refs, madeObject("", name).Ref())
	}
	return s
}

// contents are a pod's objects, written as madeObject reads them.
func contents(objects manifests.Objects) []string {
	all := []string{}
	for _, o := range objects {
		if o.ConfigMap != nil {
			all = append(all, o.ConfigMap.Name+"="+o.ConfigMap.Data["is"])
		} else {
			all = append(all, "s:"+o.Secret.Name+"="+o.Secret.StringData["is"])
		}
	}
	return all
}

// receiveWith takes an update of changes that are written as words does, with
// the objects of each pod behind it.
func (r *running) receiveWith(want ...string) PodUpdate {
	r.t.Helper()
	u := r.update(want)
	got := []string{}
	for i, word := range words(u.Changes) {
		got = append(got, word+" ["+strings.Join(contents(u.Changes[i].Pod.Objects), " ")+"]")
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("update of %s: %q, want %q", u.Source.Name, got, want)
	}
	return u
}

func TestStock(t *testing.T) {
	tests := []struct {
		name    string
		steps   []string // what the source has, one state after the other
		want    string   // on the shelf in the end
		remarks []string // in the end
	}{
		{"nothing", []string{""}, "", nil},
		{"a change", []string{"a=1 b=1", "a=2 b=1"}, "a=2 b=1", nil},
		{"two of one name", []string{"a=1@x.yaml a=2@y.yaml"}, "a=1", []string{"y.yaml:3: ConfigMap default/a is not used: x.yaml:3 has its name"}},
		{"the first of two goes", []string{"a=1@x.yaml a=2@y.yaml", "a=2@y.yaml"}, "a=2", nil},
		{"a Secret is not the ConfigMap of its name", []string{"a=1 s:a=2"}, "a=1 s:a=2", nil},
		{"immutable, unchanged", []string{"a=1!", "a=1!"}, "a=1", nil},
		{"immutable, moved", []string{"a=1!@x.yaml", "a=1!@y.yaml"}, "a=1", nil},
		{"immutable, changed", []string{"a=1!", "a=2!@b.yaml"}, "a=1", []string{"b.yaml:3: ConfigMap default/a is immutable: this change is not applied; delete it first, or give the new one another name"}},
		{"immutable, changed again", []string{"a=1!", "a=2!", "a=3"}, "a=1", []string{"a.yaml:3: ConfigMap default/a is immutable: this change is not applied; delete it first, or give the new one another name"}},
		{"immutable, changed back", []string{"a=1!", "a=2!", "a=1!"}, "a=1", nil},
		{"immutable no more", []string{"s:a=1!", "s:a=1", "s:a=2"}, "s:a=1", []string{"a.yaml:3: Secret default/a is immutable: this change is not applied; delete it first, or give the new one another name"}},
		{"immutable from now on", []string{"a=1", "a=2!", "a=2!"}, "a=2", nil},
		{"deleted and created", []string{"a=1!", "b=1", "a=2!"}, "a=2", nil},
		{"an earlier place takes the name of an immutable one", []string{"a=1!@y.yaml", "a=2@x.yaml a=1!@y.yaml"}, "a=1", []string{
			"x.yaml:3: ConfigMap default/a is immutable: this change is not applied; delete it first, or give the new one another name",
			"y.yaml:3: ConfigMap default/a is not used: x.yaml:3 has its name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s shelf
			var remarks []remark
			for _, step := range tt.steps {
				s, remarks = stock(Snapshot{}.with(strings.Fields(step)...).Objects, s)
			}
			var all []*manifests.Object
			for _, o := range s {
				all = append(all, o)
			}
			if got := strings.Join(contents(manifests.NewObjects(all)), " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			var said []string
			for _, r := range remarks {
				said = append(said, r.fault.Error())
			}
			if !slices.Equal(said, tt.remarks) {
				t.Errorf("remarks %q, want %q", said, tt.remarks)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	tests := []struct {
		name  string
		from  []string // where source a looks after itself
		a, b  string   // objects of the sources
		uses  string
		finds string
	}{
		{"its own", nil, "m=a s:m=a other=a", "m=b", "m s:m", "m=a s:m=a"},
		{"its own only", nil, "", "m=b", "m", ""},
		{"another's", []string{"b"}, "", "m=b", "m", "m=b"},
		{"its own before another's", []string{"b"}, "m=a", "m=b k=b", "k m", "k=b m=a"},
		{"the first of others'", []string{"c", "b"}, "", "m=b k=b", "k m", "k=c m=b"},
		{"of a source that has not spoken", []string{"d", "b"}, "", "m=b", "m", "m=b"},
		{"missing", []string{"b"}, "k=a", "k=b", "k m", "k=a"},
		{"none wanted", []string{"b"}, "m=a", "m=b", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLedger([]Member{{Name: "a", ObjectsFrom: tt.from}, {Name: "b"}, {Name: "c"}, {Name: "d"}})
			stored := wants("b").with(strings.Fields(tt.b)...)
			stored.Live = false // its last good set counts too
			l.take(stored)
			l.take(wants("c").with("k=c"))
			l.take(wants("a", "lamp").with(strings.Fields(tt.a)...).using(strings.Fields(tt.uses)...))
			for o, _ := l.next(); o != nil; o, _ = l.next() {
				l.settle(o)
			}
			if got := strings.Join(contents(l.running[0].Objects), " "); got != tt.finds {
				t.Errorf("got %q, want %q", got, tt.finds)
			}
			for _, p := range l.newest["a"].Pods {
				if p.Objects != nil {
					t.Error("the source's own snapshot was written to")
				}
			}
		})
	}
}

// B35: a change of an object is told to the pods that refer to it and to no
// other; one that says the same is told to nobody.
func TestObjectChangeIsToldToItsReaders(t *testing.T) {
	r := startMerger(t, "file")
	set := func(objects ...string) Snapshot {
		s := wants("file", "lamp").using("a")
		s.Pods = append(s.Pods, wants("file", "kiln").using("b").Pods...)
		s.Pods = append(s.Pods, wants("file", "wheel").Pods...)
		return s.with(objects...)
	}
	r.send(set("a=1"))
	r.receiveWith("ADD lamp= file@lamp.yaml [a=1]", "ADD kiln= file@kiln.yaml []", "ADD wheel= file@wheel.yaml []")
	r.send(set("a=2"))
	r.receiveWith("RECONCILE lamp= file@lamp.yaml [a=2]")
	r.send(set("a=2@moved.yaml", "b=1", "c=1"))
	r.receiveWith("RECONCILE kiln= file@kiln.yaml [b=1]")
	r.send(set("b=1", "c=2"))
	r.receiveWith("RECONCILE lamp= file@lamp.yaml []")
	r.send(set("b=1", "c=3"))
	r.silent()
}

// A push that changes a ConfigMap and an image together never shows the old pod
// the new config: what is removed is told with what it had.
func TestReplacedPodKeepsItsObjects(t *testing.T) {
	r := startMerger(t, "git")
	r.send(wants("git", "lamp=1").using("m").with("m=old"))
	r.receiveWith("ADD lamp=1 git@lamp.yaml [m=old]")
	r.send(wants("git", "lamp=2").using("m").with("m=new"))
	r.receiveWith("REMOVE lamp=1 git@lamp.yaml [m=old]", "ADD lamp=2 git@lamp.yaml [m=new]")

	moved := wants("git", "lamp=2@moved.yaml").using("m").with("m=newer")
	r.send(moved)
	r.receiveWith("UPDATE lamp=2 git@moved.yaml [m=newer]")
	r.send(wants("git"))
	r.receiveWith("REMOVE lamp=2 git@moved.yaml [m=newer]")
}

// A pod sees the objects of the sources that its own names, and hears of their
// changes in the updates of those.
func TestObjectsFromAnotherSource(t *testing.T) {
	r := startMerger(t, "apps", "shared")
	r.configure(Member{Name: "apps", ObjectsFrom: []string{"shared"}}, Member{Name: "shared"})
	r.send(wants("apps", "lamp").using("m", "s:key"))
	r.receiveWith("ADD lamp= apps@lamp.yaml []")
	r.send(wants("shared").with("m=1", "s:key=1"))
	if u := r.receiveWith("RECONCILE lamp= apps@lamp.yaml [m=1 s:key=1]"); u.Source.Name != "shared" || !u.Source.Live {
		t.Errorf("state %+v", u.Source)
	}
	r.send(wants("apps", "lamp").using("m", "s:key").with("m=own"))
	r.receiveWith("RECONCILE lamp= apps@lamp.yaml [m=own s:key=1]")
	r.send(wants("shared").with("m=2", "s:key=1"))
	r.silent() // nobody sees that one
	r.configure(Member{Name: "apps"}, Member{Name: "shared"})
	if u := r.receiveWith("RECONCILE lamp= apps@lamp.yaml [m=own]"); u.Source.Name != "" {
		t.Errorf("state %+v", u.Source)
	}
}

// What is not in force of a source's objects is shown with the unit that it
// stands in, and said once.
func TestObjectsNotInForceAreShown(t *testing.T) {
	r := startMerger(t, "file")
	r.send(wants("file", "lamp").using("m").with("m=1!@m.yaml"))
	r.receiveWith("ADD lamp= file@lamp.yaml [m=1]")
	for range 2 {
		r.send(wants("file", "lamp").using("m").with("m=2!@m.yaml", "m=3@z.yaml"))
	}
	r.silent()
	statuses, err := r.merger.Statuses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"is immutable", "m.yaml:3 has its name"} {
		if u := statuses[0].Units[i]; len(u.Warnings) != 1 || !strings.Contains(u.Warnings[0].Message, want) {
			t.Errorf("unit %+v does not say %q", u, want)
		}
	}
	if n := r.log.count("object is not in force"); n != 2 {
		t.Errorf("%d messages, want 2:\n%s", n, r.log)
	}
	if r.log.count(fmt.Sprintf("%x", sha256.Sum256([]byte("1")))) > 0 {
		t.Error("a digest was logged")
	}
	r.send(wants("file", "lamp").using("m"))
	r.receiveWith("RECONCILE lamp= file@lamp.yaml []")
	r.send(wants("file", "lamp").using("m").with("m=2!"))
	r.receiveWith("RECONCILE lamp= file@lamp.yaml [m=2]")
}

// Between source and receiver the newest counts, for what is seen of objects
// too: a delete that nobody was told of has happened.
func TestImmutableObjectsAndASlowReceiver(t *testing.T) {
	r := startMerger(t, "file")
	r.send(wants("file", "lamp").using("m").with("m=1!"))
	r.receiveWith("ADD lamp= file@lamp.yaml [m=1]")
	r.send(wants("file", "lamp").using("m"))
	r.send(wants("file", "lamp").using("m").with("m=2!"))
	r.receiveWith("RECONCILE lamp= file@lamp.yaml [m=2]")
}
