//go:build e2e

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podstead/podstead/test/rig"
)

// web is the pod of most tests: an init container, an app, and a site that
// serves its image's version. Both need a while to end, so that faults can
// strike meanwhile. A port other than 0 is published on the host.
type web struct {
	name    string
	version int // of the image, 1 or 2
	port    int
	conf    string // of its ConfigMap, in a variable of the app; "" for none
}

// Containers of a web.
const (
	initial = "init"
	app     = "app"
	site    = "site"
)

// Scripts of its containers, which leave when they are told to.
const (
	idle  = "trap 'sleep 0.3; exit 0' TERM; sleep 1000000 & wait"
	serve = "trap 'sleep 0.3; exit 0' TERM; httpd -f -p 80 -h / & wait"
)

// manifest writes the pod for an agent. Each main process bears a mark on its
// command line by which it is found in /proc, whatever the engine says.
func (w web) manifest(a *agent) string {
	publish, conf, uses := "", "", ""
	if w.port != 0 {
		publish = fmt.Sprintf("\n    ports: [{containerPort: 80, hostPort: %d}]", w.port)
	}
	if w.conf != "" {
		conf = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {CONF: %s}\n---\n", w.name, w.conf)
		uses = fmt.Sprintf("\n    envFrom: [{configMapRef: {name: %s}}]", w.name)
	}
	return fmt.Sprintf(`%[8]sapiVersion: v1
kind: Pod
metadata:
  name: %[1]s
  annotations: {podstead/restart-on-change: "true"}
spec:
  terminationGracePeriodSeconds: 5
  initContainers:
  - name: init
    image: podstead-test/busybox:%[2]d
    command: [sh, -c, sleep 0.2]
  containers:
  - name: app
    image: podstead-test/busybox:%[2]d
    command: [sh, -c, %[3]q, %[5]s]%[9]s
  - name: site
    image: podstead-test/busybox:%[2]d
    command: [sh, -c, %[4]q, %[6]s]%[7]s
`, w.name, w.version, idle, serve, w.mark(a, app), w.mark(a, site), publish, conf, uses)
}

// mark is on the command line of a container's main process and nowhere else.
func (w web) mark(a *agent, container string) string {
	return strings.Join([]string{a.node, w.name, container, fmt.Sprint("v", w.version)}, "_")
}

// freePort is a port of this host that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := rig.FreePort()
	must(t, err)
	return port
}
