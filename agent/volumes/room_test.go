package volumes

import (
	"errors"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// memoryOf is a file system in memory of so many pages and files, of which some
// are free.
func memoryOf(pages, freePages, files, freeFiles uint64) func(string) (space, space, error) {
	return func(string) (space, space, error) {
		return space{pages * pageSize, files}, space{freePages * pageSize, freeFiles}, nil
	}
}

func TestRoom(t *testing.T) {
	tree := map[string]file{".": {}, "a": {data: make([]byte, pageSize)}, "b": {data: []byte("b")}} // 4 pages, 3 files
	for _, tt := range []struct {
		name string
		stat func(string) (space, space, error)
		want string // "" for enough
	}{
		{"enough", memoryOf(80, 14, 80, 13), ""},
		{"a page too few", memoryOf(80, 13, 80, 13), "no room in memory for 16384 bytes: of 327680 where /run/x is, 53248 are free, and an eighth stays the host's"},
		{"a file too few", memoryOf(80, 14, 80, 12), "no room in memory for 3 files: of 80 where /run/x is, 12 are free"},
		{"no limit of files", memoryOf(80, 14, 0, 0), ""},
		{"no limit at all", memoryOf(0, 0, 0, 0), ""},
		{"nobody knows", func(string) (space, space, error) { return space{}, space{}, errors.New("gone") }, "gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := room{stat: tt.stat}
			release, err := r.reserve("/run/x", tree)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if err != nil {
				return
			}
			release()
			if r.taken != (space{}) {
				t.Errorf("%+v stays taken", r.taken)
			}
		})
	}
}

// What others are writing just now is not free.
func TestRoomOfWritesUnderWay(t *testing.T) {
	r := room{stat: memoryOf(80, 14, 80, 80)}
	tree := map[string]file{"a": {}, "b": {}, "c": {}}
	release, err := r.reserve("/run/x", tree)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.reserve("/run/x", tree); err == nil {
		t.Error("the same pages were given twice")
	}
	release()
	if _, err := r.reserve("/run/x", tree); err != nil {
		t.Error(err)
	}
}

// The host's /run is not for pods to fill: a volume that does not fit waits, one
// that is there keeps what it held, and those on disk are none of it.
func TestSecretsDoNotFillTheHostsMemory(t *testing.T) {
	v := withObjects(t)
	v.room.stat = memoryOf(1000, 1000, 1000, 1000)
	req := known(secretVolume("login", nil))
	if _, _, err := v.SetUp(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	v.room.stat = memoryOf(1000, 126, 1000, 1000)
	if _, _, err := v.SetUp(t.Context(), req); err != nil {
		t.Errorf("nothing is to be written: %v", err)
	}
	req.Secrets["login"] = &v1.Secret{Data: map[string][]byte{"user": []byte("other")}}
	paths, _, err := v.SetUp(t.Context(), req)
	var stale *Error
	if !errors.As(err, &stale) || !stale.Stale || paths["v"] == "" || !strings.Contains(err.Error(), "no room in memory") {
		t.Errorf("%v, %v", paths, err)
	}
	other := known(secretVolume("login", nil))
	other.Pod.UID = "u2"
	if paths, _, err := v.SetUp(t.Context(), other); err == nil || paths["v"] != "" {
		t.Errorf("%v, %v", paths, err)
	}
	onDisk := known(configMapVolume("app", nil))
	onDisk.Pod.UID = "u3"
	if _, _, err := v.SetUp(t.Context(), onDisk); err != nil {
		t.Error(err)
	}
}
