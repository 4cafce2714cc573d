// Package volumes makes a pod's volumes and takes them away again, in the
// kubelet's layout under the root directory: pods/<uid>/volumes/… and
// pods/<uid>/containers/…. Every verb is idempotent and may be called again
// after a crash at any point; what is on disk and in the mount table is the
// only state. SetUp and TearDown of one pod come from one goroutine (its
// worker); calls for different pods may run side by side.
package volumes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	v1 "k8s.io/api/core/v1"
)

// Config says where volumes live and what this agent can do.
type Config struct {
	Root string // root-dir, as the engine sees it too
	// Run is where volumes that hold secrets are: plain directories, root's alone,
	// on the host's tmpfs, where the engine sees them too. It is empty after a reboot.
	Run string
	// CanMount says whether a mount made here is seen by the engine, and if not,
	// why, for people. It is asked when such a volume is made: at start the engine
	// may be away.
	CanMount func(ctx context.Context) (bool, string)
	// Forbids says why a host path, links and parents resolved, is not to be
	// mounted by a pod without NodeControl; "" if it may be. nil forbids nothing.
	Forbids func(hostPath string) string
	Mounter Mounter      // nil for the kernel's
	Logger  *slog.Logger // nil for none
}

// Note is something a user should know although the volume works: a Warning
// event of the pod.
type Note struct {
	Reason  string
	Message string
}

// Request is a pod with the objects that it refers to, by name, as far as they
// are there.
type Request struct {
	Pod        *v1.Pod
	ConfigMaps map[string]*v1.ConfigMap
	Secrets    map[string]*v1.Secret
	// NodeControl lets the pod mount what Config.Forbids forbids.
	NodeControl bool
}

// Error is one volume that could not be set up, in the kubelet's words.
type Error struct {
	Volume string
	// Stale: the volume is there all the same, with the files of an earlier SetUp.
	Stale bool
	Err   error
}

// Error names the volume and what is wrong with it.
func (e *Error) Error() string {
	return fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", e.Volume, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Volumes makes and removes the volumes of pods.
type Volumes struct {
	cfg    Config
	onDisk sync.Once // told that Run is not in memory
	room   room      // in Run
}

// New returns Volumes over a root directory; it touches nothing.
func New(cfg Config) *Volumes {
	if cfg.Mounter == nil {
		cfg.Mounter = kernel{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Volumes{cfg: cfg, room: room{stat: statMemory}}
}

// SetUp makes every volume that some container of the pod mounts and returns
// their host paths by volume name. All are tried: with an error the paths of
// those that work are returned too, and the error joins one *Error per volume
// that does not.
//
// It may be called again while the pod runs. Volumes of objects then get the
// objects' new content at once, as a whole; one whose object has gone keeps what
// it held, with an *Error that is Stale and a path. It takes as long as reading
// the objects' files, and writing those of changed ones: milliseconds. Only a
// mount can hang, on a kernel in trouble; ctx is looked at between volumes.
func (v *Volumes) SetUp(ctx context.Context, req Request) (paths map[string]string, notes []Note, err error) {
	paths = map[string]string{}
	mounted := mountedNames(req.Pod)
	var faults []error
	for i := range req.Pod.Spec.Volumes {
		volume := &req.Pod.Spec.Volumes[i]
		if !mounted[volume.Name] {
			continue
		}
		path, note, err := v.setUp(ctx, req, volume)
		var old staleError
		switch {
		case errors.As(err, &old):
			faults = append(faults, &Error{Volume: volume.Name, Stale: true, Err: old.error})
		case err != nil:
			faults = append(faults, &Error{Volume: volume.Name, Err: err})
			continue
		}
		paths[volume.Name] = path
		if note != nil {
			notes = append(notes, *note)
		}
	}
	return paths, notes, errors.Join(faults...)
}

// staleError is why a volume that is there could not be brought up to date.
type staleError struct{ error }

// setUp makes one volume. With an error the path counts only if the error is
// stale. A volume without a source is an emptyDir, as in Kubernetes.
func (v *Volumes) setUp(ctx context.Context, req Request, volume *v1.Volume) (string, *Note, error) {
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	switch {
	case volume.HostPath != nil:
		if err := v.checkForbidden(req, volume.HostPath.Path); err != nil {
			return "", nil, err
		}
		return setUpHostPath(volume.Name, volume.HostPath)
	case volume.ConfigMap != nil || volume.Secret != nil || volume.Projected != nil:
		path, err := v.setUpObjects(req, volume)
		return path, nil, err
	case volume.EmptyDir != nil || volume.VolumeSource == (v1.VolumeSource{}):
		path, err := v.setUpEmptyDir(ctx, req.Pod, volume)
		return path, nil, err
	}
	return "", nil, errors.New("volumes of its type are not supported")
}

// checkForbidden looks again at what was looked at when the manifest was read:
// links may have changed since.
func (v *Volumes) checkForbidden(req Request, path string) error {
	if v.cfg.Forbids == nil || req.NodeControl {
		return nil
	}
	if why := v.cfg.Forbids(path); why != "" {
		return errors.New(why)
	}
	return nil
}

// mountedNames are the volumes that some container mounts; as in the kubelet,
// others are never made.
func mountedNames(pod *v1.Pod) map[string]bool {
	names := map[string]bool{}
	for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, m := range containers[i].VolumeMounts {
				names[m.Name] = true
			}
		}
	}
	return names
}
