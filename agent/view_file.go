package agent

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/manifests"
)

// viewVersion is raised when an older podstead could misread a kept view.
const viewVersion = 1

// viewMark names one view of a pod: in the record, and at the head of the file
// that keeps the view. Where the two differ, the agent was killed between the two
// writes, and the one with the higher turn counts.
type viewMark struct {
	Turn   int    `json:"turn"` // raised with each other view
	Digest string `json:"digest"`
}

// viewHead is the first line of pods/<uid>/objects.json; the second is a list of
// keptObject. It is read alone where only the mark is asked for.
type viewHead struct {
	Version int      `json:"version"`
	UID     string   `json:"uid"`
	Mark    viewMark `json:"mark"`
	Sum     string   `json:"sum"` // SHA-256 of the second line
}

// keptObject is one object on disk.
type keptObject struct {
	ConfigMap *v1.ConfigMap   `json:"configMap,omitempty"`
	Secret    *v1.Secret      `json:"secret,omitempty"`
	Place     manifests.Place `json:"place"`
	Digest    string          `json:"digest"`
}

func (r *Records) viewPath(uid string) string { return filepath.Join(r.dir, uid, "objects.json") }

// saveView makes a pod's view of objects durable, for root only. The pod's
// record is there already.
func (r *Records) saveView(uid string, mark viewMark, objects manifests.Objects) error {
	kept := make([]keptObject, len(objects))
	for i, o := range objects {
		kept[i] = keptObject{o.ConfigMap, o.Secret, o.Place, hex.EncodeToString(o.Digest[:])}
	}
	body, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("save objects of pod %s: %w", uid, err)
	}
	head, err := json.Marshal(viewHead{viewVersion, uid, mark, bodySum(body)})
	if err != nil {
		return fmt.Errorf("save objects of pod %s: %w", uid, err)
	}
	if err := r.write(r.viewPath(uid), joinLines(head, body), 0o600); err != nil {
		return fmt.Errorf("save objects of pod %s: %w", uid, err)
	}
	return nil
}

func joinLines(lines ...[]byte) []byte { return append(bytes.Join(lines, []byte("\n")), '\n') }

func bodySum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// markOf is the mark of the view that is kept of a pod; zero when there is
// none that can be used, which an error explains unless there is no file.
func (r *Records) markOf(uid string) (viewMark, error) {
	head, _, err := r.readView(uid, false)
	return head.Mark, err
}

// loadView returns the view that is kept of a pod, as markOf.
func (r *Records) loadView(uid string) (viewMark, manifests.Objects, error) {
	head, objects, err := r.readView(uid, true)
	return head.Mark, objects, err
}

func (r *Records) readView(uid string, whole bool) (viewHead, manifests.Objects, error) {
	head, objects, err := readView(r.viewPath(uid), uid, whole)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return viewHead{}, nil, nil
	case err != nil:
		return viewHead{}, nil, fmt.Errorf("load objects of pod %s: %w", uid, err)
	}
	return head, objects, nil
}

// readView reads the file; no error quotes it.
func readView(path, uid string, whole bool) (head viewHead, objects manifests.Objects, err error) {
	file, err := os.Open(path)
	if err != nil {
		return viewHead{}, nil, err
	}
	defer file.Close()
	reader := bufio.NewReader(file)
	line, err := reader.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &head) != nil {
		return viewHead{}, nil, errors.New("it is damaged")
	}
	switch {
	case head.Version > viewVersion:
		return viewHead{}, nil, fmt.Errorf("version %d is newer than this podstead's %d", head.Version, viewVersion)
	case head.UID != uid:
		return viewHead{}, nil, errors.New("it is not this pod's")
	case !whole:
		return head, nil, nil
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return viewHead{}, nil, err
	}
	body = bytes.TrimSuffix(body, []byte("\n"))
	var kept []keptObject
	if bodySum(body) != head.Sum || json.Unmarshal(body, &kept) != nil {
		return viewHead{}, nil, errors.New("it is damaged")
	}
	objects, err = restored(kept)
	if err != nil || viewDigest(objects) != head.Mark.Digest {
		return viewHead{}, nil, errors.New("it is damaged")
	}
	return head, objects, nil
}

func restored(kept []keptObject) (manifests.Objects, error) {
	objects := make([]*manifests.Object, len(kept))
	for i, k := range kept {
		digest, err := hex.DecodeString(k.Digest)
		if err != nil || len(digest) != sha256.Size || (k.ConfigMap == nil) == (k.Secret == nil) {
			return nil, errors.New("an object is not one")
		}
		objects[i] = &manifests.Object{ConfigMap: k.ConfigMap, Secret: k.Secret, Place: k.Place, Digest: manifests.Digest(digest)}
	}
	return objects, nil
}
