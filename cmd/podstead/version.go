package main

import (
	"cmp"
	goruntime "runtime"
	"runtime/debug"

	"github.com/podstead/podstead/agent/api"
)

// version is set when a release is linked: -X main.version=…
var version string

// thisVersion is what this program was built from.
func thisVersion() api.Version {
	v := api.Version{Version: version, GoVersion: goruntime.Version(), Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(v.Version, info.Main.Version, "unknown")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/kubernetes" {
			v.Kubernetes = m.Version
		}
	}
	return v
}
