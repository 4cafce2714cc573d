package sources

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func objectFile(name, content string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {is: %q}\n", name, content)
}

func secretFile(name, content string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s}\nstringData: {is: %q}\n", name, content)
}

// reader is a pod that takes its environment from a ConfigMap and a Secret.
func reader(name string) string {
	return manifest(name, "x") + "    envFrom: [{configMapRef: {name: conf}}, {secretRef: {name: conf}}]\n"
}

// holds is true for a snapshot whose objects are these, as contents writes them.
func holds(want ...string) func(Snapshot) bool {
	return func(s Snapshot) bool {
		var got []string
		for _, o := range s.Objects {
			if o.ConfigMap != nil {
				got = append(got, o.ConfigMap.Name+"="+o.ConfigMap.Data["is"])
			} else {
				got = append(got, "s:"+o.Secret.Name+"="+string(o.Secret.Data["is"]))
			}
		}
		return fmt.Sprint(got) == fmt.Sprint(want)
	}
}

// A folder's objects reach the pods that refer to them, whatever file they stand
// in, and each change of them does.
func TestObjectsOfAFolder(t *testing.T) {
	r := newRig(t)
	r.write("conf.yaml", objectFile("conf", "old"))
	r.write("lamp.yaml", reader("lamp"))
	r.start(watchOnly)
	first := r.await("pod and object", func(s Snapshot) bool { return pods("lamp-n1").exactly(s) && holds("conf=old")(s) })
	if o := first.Objects[0].Origin; o.Unit != r.path("conf.yaml") || o.Source != "file" || o.Line != 1 || o.Revision != r.unit("conf.yaml").Revision {
		t.Errorf("origin %+v", o)
	}
	if got := len(r.ledger.running[0].Objects); got != 1 {
		t.Errorf("the pod sees %d objects, want the ConfigMap", got)
	}
	r.write("conf.yaml", objectFile("conf", "new"))
	second := r.await("the change", holds("conf=new"))
	if first.Revision == second.Revision {
		t.Error("another object is another revision of the folder")
	}
	r.write("keys.yml", secretFile("conf", "1")+"---\n"+objectFile("other", "1"))
	r.await("more", holds("conf=new", "s:conf=1", "other=1"))
	r.write("keys.yml", "kind: Secret\n")
	s := r.await("the fault", faulty("keys.yml", ""))
	if !holds("conf=new", "s:conf=1", "other=1")(s) {
		t.Errorf("objects %v, want the last good ones", s.Objects)
	}
	r.remove("keys.yml")
	r.await("the end", holds("conf=new"))
	r.wantChanges("ADD lamp-n1", "RECONCILE lamp-n1", "RECONCILE lamp-n1", "RECONCILE lamp-n1")
}

// A file of objects that is renamed is no second object of that name, not even
// for a moment.
func TestRenamedFileOfObjects(t *testing.T) {
	r := newRig(t)
	r.write("conf.yaml", objectFile("conf", "on"))
	r.write("lamp.yaml", reader("lamp"))
	r.start(watchOnly)
	r.await("pod and object", holds("conf=on"))
	r.must(os.Rename(r.path("conf.yaml"), r.path("a.yaml")))
	r.await("the rename", func(s Snapshot) bool { return len(s.Units) == 2 && s.Units[0].Name == r.path("a.yaml") })
	r.flush()
	if n := r.log.count("object is not in force"); n > 0 {
		t.Errorf("%d messages:\n%s", n, r.log)
	}
	r.wantChanges("ADD lamp-n1")
}

// Objects are part of the last good set: a machine that boots without its disk
// gives its pods what they had.
func TestLastGoodObjects(t *testing.T) {
	r := newRig(t)
	r.write("conf.yaml", objectFile("conf", "on")+"---\n"+secretFile("conf", "s3cret"))
	r.start()
	r.await("the objects", holds("conf=on", "s:conf=s3cret"))
	r.restart(func() { r.must(os.Rename(r.dir, r.dir+".away")) })
	if s := r.first(); s.Live || !holds("conf=on", "s:conf=s3cret")(s) || len(s.Units) != 1 || len(s.Units[0].Faults) > 0 {
		t.Errorf("first: %s with %d objects", describe(s), len(s.Objects))
	}
	if strings.Contains(r.log.String(), "s3cret") {
		t.Errorf("a secret is in the log:\n%s", r.log)
	}
}

// What stands in for a place that has not answered is shown where it came from,
// and once the place answers where it is.
func TestLastGoodOfAnotherFolderKeepsItsPlace(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "on"))
	r.start()
	r.await("lamp", pods("lamp-n1").exactly)
	old := r.dir
	r.dir = old + ".new"
	r.restart(func() {})
	s := r.first()
	if want := filepath.Join(old, "lamp.yaml"); s.Units[0].Name != want || s.Pods[0].Origin.Unit != want {
		t.Errorf("unit %s, pod of %s, want %s", s.Units[0].Name, s.Pods[0].Origin.Unit, want)
	}
	if s.Live || s.Place != r.dir || !placeFaulty("no such file")(s) {
		t.Errorf("place %s: %s", s.Place, describe(s))
	}
	r.must(os.Rename(old, r.dir))
	s = r.await("the new folder", func(s Snapshot) bool { return s.Live })
	if want := r.path("lamp.yaml"); s.Units[0].Name != want || s.Pods[0].Origin.Unit != want {
		t.Errorf("unit %s, pod of %s, want %s", s.Units[0].Name, s.Pods[0].Origin.Unit, want)
	}
	r.flush()
	r.wantChanges("ADD lamp-n1", "UPDATE lamp-n1")
}

// sync asks the running source for a look and takes snapshots until it answers.
func (r *rig) sync() error {
	r.t.Helper()
	answer := make(chan error, 1)
	go func() { answer <- r.source.Sync(r.t.Context(), SyncRequest{}) }()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case s := <-r.out:
			r.take(s)
		case err := <-answer:
			return err
		case <-deadline:
			r.t.Fatalf("no answer; last: %s\nlog:\n%s", describe(r.last), r.log)
		}
	}
}

// blindly makes a source that sees nothing but by a look that it is asked for.
func blindly(cfg *FileConfig) {
	cfg.Rescan = time.Hour
	cfg.watch = func() (*folderWatch, error) { return &folderWatch{}, nil }
}

// A sync answers when what the place holds at its call is in force and taken, or
// says why it is not.
func TestSyncOfAFolder(t *testing.T) {
	r := newRig(t)
	r.start(blindly)
	r.await("the empty folder", healthy)
	for i := range 5 {
		r.write("lamp.yaml", manifest("lamp", fmt.Sprint(i)))
		if err := r.sync(); err != nil || !runs("lamp-n1", fmt.Sprint(i))(r.last) {
			t.Errorf("sync returned %v with %s", err, describe(r.last))
		}
	}
	r.write("kiln.yaml", "kind: Po")
	if err := r.sync(); err == nil || !strings.Contains(err.Error(), "kiln.yaml") {
		t.Errorf("sync of a broken manifest returned %v", err)
	}
	r.remove("kiln.yaml")
	if err := r.sync(); err != nil {
		t.Errorf("sync returned %v after the repair", err)
	}
}

func TestSyncOfAPlaceInError(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", manifest("lamp", "old"))
	r.start(blindly)
	r.await("lamp", runs("lamp-n1", "old"))
	away := r.dir + ".away"
	r.must(os.Rename(r.dir, away))
	for range 3 {
		if err := r.sync(); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("sync returned %v", err)
		}
	}
	if !pods("lamp-n1").exactly(r.last) {
		t.Error(describe(r.last))
	}
	r.must(os.Rename(away, r.dir))
	r.write("lamp.yaml", manifest("lamp", "new"))
	if err := r.sync(); err != nil || !runs("lamp-n1", "new")(r.last) || !healthy(r.last) {
		t.Errorf("sync returned %v with %s", err, describe(r.last))
	}
}

// A file that is being written is waited for, but not for ever.
func TestSyncWhileAFileIsWritten(t *testing.T) {
	r := newRig(t)
	r.start(blindly)
	r.await("the empty folder", healthy)
	f, err := os.Create(r.path("lamp.yaml"))
	r.must(err)
	if err := r.sync(); err == nil || !strings.Contains(err.Error(), "being written") {
		t.Errorf("sync returned %v", err)
	}
	_, err = f.WriteString(manifest("lamp", "on"))
	r.must(errors.Join(err, f.Close()))
	if err := r.sync(); err != nil || !runs("lamp-n1", "on")(r.last) {
		t.Errorf("sync returned %v with %s", err, describe(r.last))
	}
}

// A unit with very much to complain of is told in few lines.
func TestManyWarningsAreFewLines(t *testing.T) {
	r := newRig(t)
	r.write("lamp.yaml", strings.Repeat("kind: StatefulSet\napiVersion: apps/v1\nmetadata: {name: x}\n---\n", 900)+manifest("lamp", "on"))
	r.start()
	r.await("lamp", pods("lamp-n1").exactly)
	if got := len(r.unit("lamp.yaml").Warnings); got != 900 {
		t.Fatalf("%d warnings", got)
	}
	r.flush()
	if n, m := r.log.count("manifest warning", "lamp.yaml"), r.log.count("more to tell", "warnings=900"); n != toldFaults || m != 1 {
		t.Errorf("%d lines and %d that say how many", n, m)
	}
}
