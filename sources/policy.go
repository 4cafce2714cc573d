package sources

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// Policy is what the pods of a source may ask for.
type Policy string

// The levels, each allowing less than the one before. All but edge are those of
// Kubernetes' Pod Security Standards.
const (
	PolicyPrivileged Policy = "privileged" // anything: default of folders, which are root's
	PolicyEdge       Policy = "edge"       // baseline, and host ports: default of URLs and repositories
	PolicyBaseline   Policy = "baseline"
	PolicyRestricted Policy = "restricted"
)

// DefaultPolicy is that of a source whose configuration names none.
func DefaultPolicy(kind Kind) Policy {
	if kind == KindFile {
		return PolicyPrivileged
	}
	return PolicyEdge
}

// policies are the levels from the one that allows all on.
func policies() []Policy {
	return []Policy{PolicyPrivileged, PolicyEdge, PolicyBaseline, PolicyRestricted}
}

// check refuses what is no level; "" is the default of the source's kind.
func (p Policy) check() error {
	if p != "" && !slices.Contains(policies(), p) {
		return fmt.Errorf("policy %q is none of %v", p, policies())
	}
	return nil
}

// PolicyCheck judges pods by one level, with Kubernetes' own checks in their
// newest version. Safe for concurrent use.
type PolicyCheck struct {
	policy Policy
	all    policy.Evaluator
	noPort policy.Evaluator // all but the check of host ports
}

// NewPolicyCheck returns a check of a level; a word that is none is an error.
func NewPolicyCheck(level Policy) (*PolicyCheck, error) {
	if !slices.Contains(policies(), level) {
		return nil, fmt.Errorf("policy %q is none of %v", level, policies())
	}
	checks := policy.DefaultChecks()
	all, err := policy.NewEvaluator(checks, nil)
	if err != nil {
		return nil, fmt.Errorf("set up policy %s: %w", level, err)
	}
	hostPorts := policy.CheckHostPorts().ID
	noPort, err := policy.NewEvaluator(slices.DeleteFunc(checks, func(c policy.Check) bool { return c.ID == hostPorts }), nil)
	if err != nil {
		return nil, fmt.Errorf("set up policy %s: %w", level, err)
	}
	return &PolicyCheck{policy: level, all: all, noPort: noPort}, nil
}

// Violation says what a pod asks for that the level does not allow, and which
// level does; "" when it may run.
func (c *PolicyCheck) Violation(pod *v1.Pod) (why string) {
	found := c.against(c.policy, pod)
	if found == "" {
		return ""
	}
	allowing := PolicyPrivileged
	for _, level := range policies() {
		if level == c.policy {
			break
		}
		if c.against(level, pod) == "" {
			allowing = level
		}
	}
	return fmt.Sprintf("violates policy %s: %s; set policy: %s on this source if you trust it", c.policy, found, allowing)
}

func (c *PolicyCheck) against(level Policy, pod *v1.Pod) string {
	evaluator, standard := c.all, api.Level(level)
	if level == PolicyEdge {
		evaluator, standard = c.noPort, api.LevelBaseline
	}
	results := evaluator.EvaluatePod(api.LevelVersion{Level: standard, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec)
	sum := policy.AggregateCheckResults(results)
	return sum.ForbiddenDetail()
}
