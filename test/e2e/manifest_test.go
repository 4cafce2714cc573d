//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Images of hack/images.sh. They are one busybox; /version holds the tag.
const (
	image1 = "podstead-test/busybox:1"
	image2 = "podstead-test/busybox:2"
)

// What the containers of most tests do.
const (
	idle     = "trap 'exit 0' TERM; sleep 1000000 & wait"
	stubborn = "trap '' TERM; while :; do sleep 1; done"
	serve    = "exec nc -ll -p 80 -e cat /version" // its image's tag, to whoever connects
)

// pod is a manifest. The parts are lines of its spec; a pod that says nothing
// of its grace period has none, so that it goes at once.
func pod(name string, parts ...string) string {
	spec := strings.Join(parts, "\n")
	if !strings.Contains(spec, "terminationGracePeriodSeconds") {
		spec = "terminationGracePeriodSeconds: 0\n" + spec
	}
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\nspec:\n" + indent(spec)
}

// lamp is the plainest pod there is: one container that runs.
func lamp(name string, more ...string) string {
	return pod(name, append(more, "containers:", run1("main", idle))...)
}

// run1 is a container that runs a script in image 1; more are lines of its own.
func run1(name, script string, more ...string) string {
	return runIn(image1, name, script, more...)
}

func runIn(image, name, script string, more ...string) string {
	return item(name, image, append([]string{"command: [sh, -c, " + quote(script) + "]"}, more...)...)
}

// item is one container of a list.
func item(name, image string, lines ...string) string {
	text := "- name: " + name + "\n  image: " + image + "\n"
	if len(lines) > 0 {
		text += indent(strings.Join(lines, "\n"))
	}
	return text
}

// hostPort publishes a port of a container.
func hostPort(host int, more string) string {
	return fmt.Sprintf("ports: [{containerPort: 80, hostPort: %d%s}]", host, more)
}

// hostPath is a volume, mount the line that mounts it.
func hostPath(name, path, kind string) string {
	return fmt.Sprintf("- {name: %s, hostPath: {path: %s, type: %q}}", name, path, kind)
}

func mount(volume, path string) string {
	return fmt.Sprintf("volumeMounts: [{name: %s, mountPath: %s}]", volume, path)
}

// quote writes a string as YAML, of which JSON is a part.
func quote(s string) string {
	text, _ := json.Marshal(s) // never fails for a string
	return string(text)
}

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return "  " + strings.Join(lines, "\n  ") + "\n"
}
