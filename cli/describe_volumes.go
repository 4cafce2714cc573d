package cli

import (
	"cmp"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

func printVolumes(p page, volumes []v1.Volume) {
	if len(volumes) == 0 {
		p.line(0, "Volumes", "<none>")
		return
	}
	p.head(0, "Volumes")
	for i := range volumes {
		p.head(1, volumes[i].Name)
		printVolume(p, &volumes[i].VolumeSource)
	}
}

func printVolume(p page, v *v1.VolumeSource) {
	kind := func(text string) { p.line(2, "Type", text) }
	switch {
	case v.HostPath != nil:
		kind("HostPath (bare host directory volume)")
		p.line(2, "Path", v.HostPath.Path)
		hostType := "<none>"
		if v.HostPath.Type != nil {
			hostType = cmp.Or(string(*v.HostPath.Type), "<none>")
		}
		p.line(2, "HostPathType", hostType)
	case v.EmptyDir != nil:
		kind("EmptyDir (a temporary directory that shares a pod's lifetime)")
		p.line(2, "Medium", v.EmptyDir.Medium)
		limit := "<unset>"
		if v.EmptyDir.SizeLimit != nil {
			limit = v.EmptyDir.SizeLimit.String()
		}
		p.line(2, "SizeLimit", limit)
	case v.ConfigMap != nil:
		kind("ConfigMap (a volume populated by a ConfigMap)")
		p.line(2, "Name", v.ConfigMap.Name)
		p.line(2, "Optional", isTrue(v.ConfigMap.Optional))
	case v.Secret != nil:
		kind("Secret (a volume populated by a Secret)")
		p.line(2, "SecretName", v.Secret.SecretName)
		p.line(2, "Optional", isTrue(v.Secret.Optional))
	case v.DownwardAPI != nil:
		kind("DownwardAPI (a volume populated by information about the pod)")
		printDownward(p, v.DownwardAPI.Items)
	case v.Projected != nil:
		kind("Projected (a volume that contains injected data from multiple sources)")
		printProjected(p, v.Projected)
	case v.PersistentVolumeClaim != nil:
		kind("PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)")
		p.line(2, "ClaimName", v.PersistentVolumeClaim.ClaimName)
		p.line(2, "ReadOnly", v.PersistentVolumeClaim.ReadOnly)
	case v.Image != nil:
		kind("Image (a container image or OCI artifact)")
		p.line(2, "Reference", v.Image.Reference)
		p.line(2, "PullPolicy", v.Image.PullPolicy)
	default:
		kind("<unknown>")
	}
}

func printDownward(p page, items []v1.DownwardAPIVolumeFile) {
	p.head(2, "Items")
	for _, item := range items {
		switch {
		case item.FieldRef != nil:
			p.text(3, item.FieldRef.FieldPath+" -> "+item.Path)
		case item.ResourceFieldRef != nil:
			p.text(3, item.ResourceFieldRef.Resource+" -> "+item.Path)
		}
	}
}

func printProjected(p page, projected *v1.ProjectedVolumeSource) {
	for _, s := range projected.Sources {
		switch {
		case s.ConfigMap != nil:
			p.line(2, "ConfigMapName", s.ConfigMap.Name)
			p.line(2, "Optional", isTrue(s.ConfigMap.Optional))
		case s.Secret != nil:
			p.line(2, "SecretName", s.Secret.Name)
			p.line(2, "Optional", isTrue(s.Secret.Optional))
		case s.DownwardAPI != nil:
			var paths []string
			for _, item := range s.DownwardAPI.Items {
				paths = append(paths, item.Path)
			}
			p.line(2, "DownwardAPI", strings.Join(paths, ", "))
		case s.ServiceAccountToken != nil:
			p.line(2, "TokenExpirationSeconds", fmt.Sprint(valueOf(s.ServiceAccountToken.ExpirationSeconds)))
		}
	}
}

func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
