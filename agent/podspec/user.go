package podspec

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// user is the user[:group] a container starts as: the manifest's, else the
// image's. A group without a user joins the image's user, root if it has none.
func user(sc *v1.SecurityContext, ofImage string) string {
	if sc.RunAsUser == nil && sc.RunAsGroup == nil {
		return ""
	}
	name, _, _ := strings.Cut(ofImage, ":")
	name = cmp.Or(name, "0")
	if sc.RunAsUser != nil {
		name = decimal(*sc.RunAsUser)
	}
	return userAndGroup(name, sc.RunAsGroup)
}

func userAndGroup(user string, group *int64) string {
	if group == nil {
		return user
	}
	return user + ":" + decimal(*group)
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

// checkNonRoot refuses what runAsNonRoot forbids or cannot tell, in the words
// of the kubelet's verifyRunAsNonRoot.
func checkNonRoot(pod *v1.Pod, c *v1.Container, sc *v1.SecurityContext, ofImage string) error {
	if !isTrue(sc.RunAsNonRoot) {
		return nil
	}
	problem := ""
	if sc.RunAsUser != nil {
		if *sc.RunAsUser == 0 {
			problem = "container's runAsUser breaks non-root policy"
		}
	} else {
		problem = rootProblem(ofImage)
	}
	if problem == "" {
		return nil
	}
	return fmt.Errorf("%s (pod: \"%s_%s(%s)\", container: %s)", problem, pod.Name, pod.Namespace, pod.UID, c.Name)
}

// rootProblem says why an image's USER may be root; "" when it is not.
func rootProblem(ofImage string) string {
	name, _, _ := strings.Cut(ofImage, ":")
	if name == "" {
		return "container has runAsNonRoot and image will run as root"
	}
	uid, err := strconv.ParseInt(name, 10, 64)
	switch {
	case err != nil:
		return fmt.Sprintf("container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is non-root", name)
	case uid == 0:
		return "container has runAsNonRoot and image will run as root"
	case uid < 0 || uid > math.MaxInt32:
		return fmt.Sprintf("container has runAsNonRoot and image has an invalid user id (%d). (Must be 1-(%d))", uid, math.MaxInt32)
	}
	return ""
}
