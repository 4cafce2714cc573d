package podspec

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/securitycontext"

	"github.com/podstead/podstead/runtime"
)

// Seccomp as the runtime takes it.
const (
	seccompDefault    = ""
	seccompUnconfined = "unconfined"
)

// security merges the pod's and the container's security contexts, the
// container's winning, and checks the user that comes out.
func security(pod *v1.Pod, c *v1.Container, image runtime.Image) (runtime.Security, error) {
	sc := securitycontext.DetermineEffectiveSecurityContext(pod, c)
	if err := checkNonRoot(pod, c, sc, image.User); err != nil {
		return runtime.Security{}, err
	}
	s := runtime.Security{
		User:            user(sc, image.User),
		Groups:          groups(pod),
		Privileged:      isTrue(sc.Privileged),
		ReadOnlyRoot:    isTrue(sc.ReadOnlyRootFilesystem),
		NoNewPrivileges: securitycontext.AddNoNewPrivileges(sc),
		Seccomp:         seccomp(pod, c),
	}
	if sc.Capabilities != nil {
		s.AddCaps = capabilities(sc.Capabilities.Add)
		s.DropCaps = capabilities(sc.Capabilities.Drop)
	}
	return s, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

func groups(pod *v1.Pod) []string {
	if pod.Spec.SecurityContext == nil {
		return nil
	}
	var all []string
	for _, gid := range pod.Spec.SecurityContext.SupplementalGroups {
		all = append(all, decimal(gid))
	}
	return all
}

// capabilities are named without CAP_ here; manifests have both.
func capabilities(written []v1.Capability) []string {
	var all []string
	for _, c := range written {
		all = append(all, strings.TrimPrefix(strings.ToUpper(string(c)), "CAP_"))
	}
	return all
}

// seccomp is the container's profile, else the pod's; without either it is
// unconfined, as the kubelet has it unless told otherwise.
func seccomp(pod *v1.Pod, c *v1.Container) string {
	var profile *v1.SeccompProfile
	if sc := pod.Spec.SecurityContext; sc != nil {
		profile = sc.SeccompProfile
	}
	if sc := c.SecurityContext; sc != nil && sc.SeccompProfile != nil {
		profile = sc.SeccompProfile
	}
	if profile != nil && profile.Type == v1.SeccompProfileTypeRuntimeDefault {
		return seccompDefault
	}
	return seccompUnconfined
}
