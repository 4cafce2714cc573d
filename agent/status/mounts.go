package status

import v1 "k8s.io/api/core/v1"

// volumeMounts shows each mount with how read-only it is: the engine's are
// never recursively so, unless the manifest could ask for it.
func volumeMounts(c *v1.Container) []v1.VolumeMountStatus {
	var all []v1.VolumeMountStatus
	for _, m := range c.VolumeMounts {
		s := v1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			disabled := v1.RecursiveReadOnlyDisabled
			s.RecursiveReadOnly = &disabled
		}
		all = append(all, s)
	}
	return all
}

// find returns the status of the named container, nil if there is none.
func find(all []v1.ContainerStatus, name string) *v1.ContainerStatus {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}
