package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/manifests"
)

// FuzzRecord: whatever lies in place of a pod's record and of its objects, it is
// refused with a reason or read; what is read is the same when it is kept and read
// again, and can be planned with.
func FuzzRecord(f *testing.F) {
	good := makePod("a", "1", 80)
	rec := Record{
		Version: recordVersion, Pod: good.Pod.Pod, Written: []byte(`{"a":1}`), Origin: good.Origin, Started: time.Unix(100, 0).UTC(),
		History: plan.History{SandboxAttempt: 2, Containers: map[string]plan.ContainerHistory{"main": {
			Attempt: 3, Running: "x", Ended: &plan.Ended{Container: "main", ID: "w", ExitCode: 1}, BackOff: time.Minute, Restart: &plan.Restart{Attempt: 3},
		}}},
		Stopping: &Stopping{Grace: time.Second, Reason: endRemoved},
	}
	uid := string(good.UID)
	body := []byte(`[{"configMap":{"metadata":{"name":"c","namespace":"default"},"data":{"a":"b"}},"digest":"` + string(bytes.Repeat([]byte("0a"), 32)) + `"}]`)
	f.Add(marshal(f, rec), joinLines(marshal(f, viewHead{Version: viewVersion, UID: uid, Mark: viewMark{Turn: 1}, Sum: bodySum(body)}), body))
	f.Add([]byte(`{"version":1,"pod":{"metadata":{"uid":"`+uid+`"}}}`), []byte("{}\n[]\n"))
	f.Add([]byte(`{"version":99}`), []byte{})
	dir := f.TempDir()
	records := &Records{dir: dir, write: os.WriteFile}
	if err := os.Mkdir(filepath.Join(dir, uid), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, record, view []byte) {
		put := func(path string, data []byte) {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put(records.path(uid), record)
		put(records.viewPath(uid), view)
		if rec, err := records.load(uid); err == nil {
			recordIsKept(t, records, rec)
			recordIsPlannedWith(rec)
		}
		if mark, objects, err := records.loadView(uid); err == nil {
			viewIsKept(t, records, uid, mark, objects)
		}
	})
}

func recordIsKept(t *testing.T, records *Records, rec Record) {
	t.Helper()
	if err := records.Save(rec); err != nil {
		t.Fatal(err)
	}
	again, err := records.load(string(rec.Pod.UID))
	if err != nil {
		t.Fatal(err)
	}
	rec.Version = again.Version
	if before, after := marshal(t, rec), marshal(t, again); !bytes.Equal(before, after) {
		t.Fatalf("%s, then %s", before, after)
	}
}

func recordIsPlannedWith(rec Record) {
	pod := rec.pod()
	now := plan.Moment{Boot: "one", Since: time.Hour, Wall: time.Unix(1_700_000_000, 0)}
	in := plan.Input{Pod: pod.Pod.Pod, Gate: plan.GateRun, History: rec.History, Now: now}
	plan.Sync(in)
	if rec.Stopping != nil {
		plan.Terminate(plan.TerminateInput{Pod: pod.Pod.Pod, Grace: rec.Stopping.Grace, Reclaim: true, Now: now})
	}
}

func viewIsKept(t *testing.T, records *Records, uid string, mark viewMark, objects manifests.Objects) {
	t.Helper()
	if err := records.saveView(uid, mark, objects); err != nil {
		t.Fatal(err)
	}
	again, same, err := records.loadView(uid)
	if err != nil || again != mark || !bytes.Equal(marshal(t, objects), marshal(t, same)) {
		t.Fatalf("%+v, then %+v: %v", mark, again, err)
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
