package sources

import "slices"

// revised is the same content under another revision.
func (v *version) revised(revision string) *version {
	if v.unit.Revision == revision {
		return v
	}
	w := *v
	w.unit.Revision = revision
	w.pods, w.objects = slices.Clone(v.pods), slices.Clone(v.objects)
	for i := range w.pods {
		w.pods[i].Origin.Revision = revision
	}
	for i := range w.objects {
		w.objects[i].Origin.Revision = revision
	}
	return &w
}

// blank is true of a unit that holds nothing but explicit empty lists: one
// without any document would be at fault.
func (v *version) blank() bool {
	return !v.faulty() && len(v.pods)+len(v.objects)+len(v.unit.Skipped)+len(v.unit.Warnings) == 0
}
