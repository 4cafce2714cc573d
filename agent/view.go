package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/plan"
	"github.com/podstead/podstead/agent/podspec"
	"github.com/podstead/podstead/manifests"
)

// annotationRestart asks for containers to be restarted when an object changes
// that they use. It is no part of a pod's identity: it may be edited in place.
const annotationRestart = "podstead/restart-on-change"

// view is what a pod sees of objects: all of it at one time, never a mix of two.
// The zero value is not known.
type view struct {
	known      bool
	objects    manifests.Objects
	digest     string // "" when there are none
	configMaps map[string]*v1.ConfigMap
	secrets    map[string]*v1.Secret
	logins     [][]byte // of pull secrets
	missing    []string // pull secrets that are not there, or are none
	loginsID   string   // tells logins apart
}

func newView(pod *v1.Pod, objects manifests.Objects) view {
	v := view{
		known: true, objects: objects, digest: viewDigest(objects),
		configMaps: objects.ConfigMaps(), secrets: objects.Secrets(),
	}
	v.logins, v.missing = podspec.PullLogins(pod, v.secrets)
	v.loginsID = loginsID(v.logins)
	return v
}

// viewDigest is a SHA-256, in hex, over names and digests. It may tell a short
// secret to who guesses: it stays in memory and in root's files.
func viewDigest(objects manifests.Objects) string {
	if len(objects) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, o := range objects {
		_, _ = io.WriteString(sum, o.Ref().String()+"\x00")
		_, _ = sum.Write(o.Digest[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func loginsID(logins [][]byte) string {
	if len(logins) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, login := range logins {
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(login))))
		_, _ = sum.Write(login)
	}
	return string(sum.Sum(nil))
}

// used is the digest of what one container would see.
func (v view) used(pod *v1.Pod, c *v1.Container) string {
	return podspec.UsedDigest(pod, c, v.configMaps, v.secrets)
}

// changes names the objects in which two views differ for one container.
func changes(pod *v1.Pod, c *v1.Container, old, new view) []string {
	before := old.used(pod, c)
	if !old.known || before == new.used(pod, c) {
		return nil
	}
	var names []string
	for _, ref := range differing(old.objects, new.objects) {
		if newView(pod, swapped(old.objects, new.objects, ref)).used(pod, c) != before {
			names = append(names, ref.String())
		}
	}
	return names
}

// differing are the objects that are not the same in both, sorted.
func differing(old, new manifests.Objects) []manifests.ObjectRef {
	was := map[manifests.ObjectRef]manifests.Digest{}
	for _, o := range old {
		was[o.Ref()] = o.Digest
	}
	var refs []manifests.ObjectRef
	for _, o := range new {
		if before, there := was[o.Ref()]; !there || before != o.Digest {
			refs = append(refs, o.Ref())
		}
		delete(was, o.Ref())
	}
	for ref := range was {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b manifests.ObjectRef) int { return strings.Compare(a.String(), b.String()) })
	return refs
}

// swapped is old with one object as it is in new.
func swapped(old, new manifests.Objects, ref manifests.ObjectRef) manifests.Objects {
	named := func(o *manifests.Object) bool { return o.Ref() == ref }
	all := slices.DeleteFunc(slices.Clone(old), named)
	if i := slices.IndexFunc(new, named); i >= 0 {
		all = append(all, new[i])
	}
	return all
}

// usesObjects reports that a container refers to objects, be they there or not.
func usesObjects(pod *v1.Pod, c *v1.Container) bool {
	return len(c.EnvFrom) > 0 || slices.ContainsFunc(c.Env, fromObject) ||
		slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool { return holdsObjects(v) && mounts(c, v.Name) })
}

func fromObject(v v1.EnvVar) bool {
	return v.ValueFrom != nil && (v.ValueFrom.ConfigMapKeyRef != nil || v.ValueFrom.SecretKeyRef != nil)
}

func holdsObjects(v v1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil
}

func mounts(c *v1.Container, volume string) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m v1.VolumeMount) bool { return m.Name == volume })
}

// showsObjects reports that some container of the pod mounts objects.
func showsObjects(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, holdsObjects)
}

// withoutObjects is the pod less the volumes that hold objects.
func withoutObjects(pod *v1.Pod) *v1.Pod {
	bare := *pod
	bare.Spec.Volumes = slices.DeleteFunc(slices.Clone(pod.Spec.Volumes), holdsObjects)
	return &bare
}

// restartsOnChange reports whether the pod asks for it.
func restartsOnChange(pod *v1.Pod) bool { return pod.Annotations[annotationRestart] == "true" }

// objectsNow is what each container that refers to objects would see of the view.
func (w *worker) objectsNow() map[string]plan.Objects {
	now := map[string]plan.Objects{}
	if !w.view.known {
		return now
	}
	for _, c := range allContainers(w.record.Pod) {
		if !usesObjects(w.record.Pod, &c) {
			continue
		}
		seen := plan.Objects{Digest: w.view.used(w.record.Pod, &c), Changed: strings.Join(w.changed[c.Name], ", ")}
		for _, m := range c.VolumeMounts {
			if w.unmounted[m.Name] != nil {
				seen.Digest = "" // it could not be made now
			}
		}
		now[c.Name] = seen
	}
	return now
}
