package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/plan"
)

func TestRecordSurvivesARoundTrip(t *testing.T) {
	records := NewRecords(t.TempDir())
	pod := makePod("a", "1", 80)
	want := Record{
		Pod: pod.Pod.Pod, Written: []byte(`{"a":1}`), Origin: pod.Origin, Started: time.Unix(100, 0).UTC(),
		History: plan.NewHistory(), Stopping: &Stopping{Grace: time.Second, Reason: endRemoved},
	}
	for range 2 {
		if err := records.Save(want); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := records.Load()
	if err != nil || len(loaded) != 1 {
		t.Fatalf("loaded %d records, %v; want 1", len(loaded), err)
	}
	got := loaded[0]
	if got.Pod.UID != want.Pod.UID || got.Origin != want.Origin || !got.Started.Equal(want.Started) ||
		got.Stopping == nil || *got.Stopping != *want.Stopping || got.History.SandboxAttempt != -1 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	info, err := os.Stat(records.path(string(pod.UID)))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	for range 2 {
		if err := records.Delete(string(pod.UID)); err != nil {
			t.Fatal(err)
		}
	}
	if loaded, err := records.Load(); err != nil || len(loaded) != 0 {
		t.Errorf("loaded %d records after delete, %v", len(loaded), err)
	}
}

func TestDamagedRecordsCostNobodyElseAnything(t *testing.T) {
	records := NewRecords(t.TempDir())
	if err := records.Save(Record{Pod: makePod("good", "1").Pod.Pod}); err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		"half":    `{"version":1,"pod":{"metada`,
		"newer":   `{"version":99,"pod":{"metadata":{"uid":"newer"}}}`,
		"another": `{"version":1,"pod":{"metadata":{"uid":"good.1"}}}`,
		"empty":   ``,
	}
	for uid, content := range bad {
		if err := os.MkdirAll(filepath.Join(records.dir, uid), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(records.path(uid), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := records.Load()
	if len(loaded) != 1 || loaded[0].Pod.Name != "good" {
		t.Errorf("loaded %v, want the good one", loaded)
	}
	for uid := range bad {
		if err == nil || !strings.Contains(err.Error(), "pod "+uid) {
			t.Errorf("the error does not name %s: %v", uid, err)
		}
	}
}

func TestDiskFullLeavesTheOldRecord(t *testing.T) {
	records := NewRecords(t.TempDir())
	rec := Record{Pod: makePod("a", "1").Pod.Pod, Started: time.Unix(1, 0)}
	if err := records.Save(rec); err != nil {
		t.Fatal(err)
	}
	records.write = func(string, []byte, fs.FileMode) error { return syscall.ENOSPC }
	rec.Started = time.Unix(2, 0)
	if err := records.Save(rec); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want ENOSPC", err)
	}
	loaded, err := records.Load()
	if err != nil || len(loaded) != 1 || !loaded[0].Started.Equal(time.Unix(1, 0)) {
		t.Errorf("loaded %+v, %v; want the old record", loaded, err)
	}
}
