package main

import (
	"fmt"
	"strings"
)

// shape is a pod to measure with: one container that ends at once on TERM.
type shape struct {
	hostPort int  // 0 for none
	graceful bool // false: KILL at once on removal
}

// app is the name of every measured container.
const app = "app"

// manifest writes the pod. The generation is an argument of its container, so
// that another one is an edit which replaces the pod.
func (s shape) manifest(name, image string, generation int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\nspec:\n", name)
	if !s.graceful {
		b.WriteString("  terminationGracePeriodSeconds: 0\n")
	}
	fmt.Fprintf(&b, "  containers:\n  - name: %s\n    image: %s\n    imagePullPolicy: Never\n", app, image)
	fmt.Fprintf(&b, "    command: [sh, -c, 'trap exit TERM; sleep 86400 & wait', 'generation %d']\n", generation)
	if s.hostPort != 0 {
		fmt.Fprintf(&b, "    ports:\n    - containerPort: 80\n      hostPort: %d\n", s.hostPort)
	}
	b.WriteString("    volumeMounts:\n    - {name: data, mountPath: /data}\n")
	b.WriteString("  volumes:\n  - name: data\n    emptyDir: {}\n")
	return []byte(b.String())
}
