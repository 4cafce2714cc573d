package sources

import (
	"bytes"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// diff tells how the set new came from the set old, UID by UID, in the order in
// which the changes are to be applied: REMOVE, ADD, UPDATE, DELETE, RECONCILE,
// and within one operation in the order of the sets. A UID stands at most once
// in a set. Sets that say the same give nothing.
func diff(old, new []Pod) []Change {
	old, new = trim(old, new)
	before, after := byUID(old), byUID(new)
	groups := map[Op][]Change{}
	for i := range old {
		if _, stays := after[old[i].UID]; !stays {
			groups[REMOVE] = append(groups[REMOVE], Change{REMOVE, old[i]})
		}
	}
	for i := range new {
		op := ADD
		if was, known := before[new[i].UID]; known {
			op = compare(&old[was], &new[i])
		}
		if op != SET {
			groups[op] = append(groups[op], Change{op, new[i]})
		}
	}
	var changes []Change
	for _, op := range []Op{REMOVE, ADD, UPDATE, DELETE, RECONCILE} {
		changes = append(changes, groups[op]...)
	}
	return changes
}

// trim leaves out what the sets have in common at their ends, which is nearly
// all of them when one unit of many changed.
func trim(old, new []Pod) (_, _ []Pod) {
	same := func(a, b *Pod) bool { return a.UID == b.UID && compare(a, b) == SET }
	for len(old) > 0 && len(new) > 0 && same(&old[0], &new[0]) {
		old, new = old[1:], new[1:]
	}
	for len(old) > 0 && len(new) > 0 && same(&old[len(old)-1], &new[len(new)-1]) {
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	return old, new
}

func byUID(pods []Pod) map[types.UID]int {
	at := make(map[types.UID]int, len(pods))
	for i := range pods {
		at[pods[i].UID] = i
	}
	return at
}

// compare tells what became of one UID; SET stands for nothing. What makes two
// pods differ is the kubelet's rule (pkg/kubelet/config: podsDifferSemantically),
// and where they come from: the pod record must name the source and unit that
// answer for a pod. The revision, and the place within the unit, do not count:
// a commit, an ETag or a comment that changes nothing of a pod is no event. Nor
// is it one where its objects come from as long as they say the same. Two pods of
// one unit that are written alike are alike: that spares the long comparison when
// a commit was read again for one of its files.
func compare(old, new *Pod) Op {
	same := old.Pod.Pod == new.Pod.Pod || bytes.Equal(old.Written, new.Written) && new.Written != nil
	switch {
	case !old.Origin.sameUnit(new.Origin) || !same && differ(old.Pod.Pod, new.Pod.Pod):
		if new.DeletionTimestamp != nil {
			return DELETE
		}
		return UPDATE
	case !same && !equality.Semantic.DeepEqual(&old.Status, &new.Status), !old.Objects.Same(new.Objects):
		return RECONCILE
	}
	return SET
}

func (o Origin) sameUnit(other Origin) bool {
	return o.Source == other.Source && o.Kind == other.Kind && o.Unit == other.Unit && o.NodeControl == other.NodeControl
}

func differ(a, b *v1.Pod) bool {
	return !equality.Semantic.DeepEqual(a.DeletionTimestamp, b.DeletionTimestamp) ||
		!equality.Semantic.DeepEqual(a.DeletionGracePeriodSeconds, b.DeletionGracePeriodSeconds) ||
		!equality.Semantic.DeepEqual(a.Labels, b.Labels) ||
		!sameAnnotations(a.Annotations, b.Annotations) ||
		!equality.Semantic.DeepEqual(&a.Spec, &b.Spec)
}

// sameAnnotations leaves out what an agent adds for itself.
func sameAnnotations(a, b map[string]string) bool {
	return covers(a, b) && covers(b, a)
}

func covers(a, b map[string]string) bool {
	for key, value := range b {
		if have, ok := a[key]; (!ok || have != value) && !localAnnotation(key) {
			return false
		}
	}
	return true
}

// localAnnotation is true for the kubelet's config.source, config.mirror and
// config.seen: they tell of the way here, not of the pod.
func localAnnotation(key string) bool {
	switch key {
	case "kubernetes.io/config.source", "kubernetes.io/config.mirror", "kubernetes.io/config.seen":
		return true
	}
	return false
}
