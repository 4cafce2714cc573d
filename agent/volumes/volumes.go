// Package volumes makes a pod's volumes and takes them away again, in the
// kubelet's layout under the root directory: pods/<uid>/volumes/… and
// pods/<uid>/containers/…. Every verb is idempotent and may be called again
// after a crash at any point; what is on disk and in the mount table is the
// only state. Calls for one pod come from one goroutine (its worker), calls for
// different pods may run side by side.
package volumes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	v1 "k8s.io/api/core/v1"
)

// Config says where volumes live and what this agent can do.
type Config struct {
	Root     string // root-dir, as the engine sees it too
	Run      string // memory-backed directory for volumes that hold secrets
	CanMount bool   // a mount made here is seen by the engine
	WhyNot   string // CanMount false: why, for people
	Mounter  Mounter
	Logger   *slog.Logger
}

// Mounter makes mounts in the engine's mount namespace.
type Mounter interface {
	Mount(source, target, fstype, options string) error
	Unmount(target string, lazy bool) error
	// Points returns the mount points of the whole namespace, in mount order.
	Points() ([]string, error)
}

// Note is something a user should know although the volume works: a Warning
// event of the pod.
type Note struct {
	Reason  string
	Message string
}

// HostPathCreated is the reason of the note that a hostPath without a type was
// missing and has been made a directory.
const HostPathCreated = "HostPathCreated"

// Error is one volume that could not be set up, in the kubelet's words.
type Error struct {
	Volume string
	Err    error
}

// Error names the volume and what is wrong with it.
func (e *Error) Error() string {
	return fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", e.Volume, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Volumes makes and removes the volumes of pods.
type Volumes struct{ cfg Config }

// New returns Volumes over a root directory; it touches nothing.
func New(cfg Config) *Volumes { return &Volumes{cfg: cfg} }

// SetUp makes every volume that some container of the pod mounts and returns
// their host paths by volume name. All are tried: with an error the paths of
// those that work are returned too, and the error joins one *Error per volume
// that does not.
func (v *Volumes) SetUp(ctx context.Context, pod *v1.Pod) (paths map[string]string, notes []Note, err error) {
	return nil, nil, errors.New("not written")
}

// TearDown unmounts and removes all that SetUp and MessageFile made for a pod.
// A pod without a directory is success.
func (v *Volumes) TearDown(ctx context.Context, uid string) error { return errors.New("not written") }

// MessageFile makes a new, empty file for the termination message of the next
// instance of a container and removes those older than the newest two.
func (v *Volumes) MessageFile(uid, container string) (string, error) {
	return "", errors.New("not written")
}

// Pods returns the UIDs that have a directory, sorted.
func (v *Volumes) Pods() ([]string, error) { return nil, errors.New("not written") }
