package sources

import (
	"crypto/sha256"
	"strings"
	"testing"
)

// podAsking is a pod of one container, with a field more in either.
func podAsking(spec, container string) string {
	out := "apiVersion: v1\nkind: Pod\nmetadata:\n  name: lamp\nspec:\n"
	if spec != "" {
		out += "  " + spec + "\n"
	}
	out += "  containers:\n  - name: main\n    image: busybox:1.36\n"
	if container != "" {
		out += "    " + container + "\n"
	}
	return out
}

func readAt(reader unitReader, data string) *version {
	return reader.read("fleet.yaml", []byte(data), sha256.Sum256([]byte(data)))
}

func TestPolicyOfASource(t *testing.T) {
	const pod = "fleet.yaml:1:1: violates policy "
	for _, tc := range []struct {
		name   string
		policy Policy
		kind   Kind
		data   string
		want   string // "" for a pod that runs
	}{
		{name: "a folder may anything", kind: KindFile, data: podAsking("hostNetwork: true", "")},
		{name: "a URL may not", kind: KindHTTP, data: podAsking("hostNetwork: true", ""),
			want: pod + "edge: host namespaces (hostNetwork=true); set policy: privileged on this source if you trust it"},
		{name: "nor a repository", kind: KindGit, data: podAsking("hostIPC: true", ""),
			want: pod + `edge: host namespaces (hostIPC=true); set policy: privileged on this source if you trust it`},
		{name: "a plain pod may come from anywhere", kind: KindGit, data: podAsking("", "")},
		{name: "edge has host ports", kind: KindGit, data: podAsking("", "ports: [{containerPort: 80, hostPort: 80}]")},
		{name: "baseline has none", policy: PolicyBaseline, kind: KindGit, data: podAsking("", "ports: [{containerPort: 80, hostPort: 80}]"),
			want: pod + `baseline: hostPort (container "main" uses hostPort 80); set policy: edge on this source if you trust it`},
		{name: "edge has no hostPath", policy: PolicyEdge, kind: KindFile, data: podAsking("volumes: [{name: v, hostPath: {path: /srv}}]", ""),
			want: pod + `edge: hostPath volumes (volume "v"); set policy: privileged on this source if you trust it`},
		{name: "two reasons", policy: PolicyEdge, kind: KindFile, data: podAsking("hostPID: true", "securityContext: {capabilities: {add: [NET_ADMIN]}}"),
			want: pod + `edge: non-default capabilities (container "main" must not include "NET_ADMIN" in securityContext.capabilities.add), host namespaces (hostPID=true); set policy: privileged on this source if you trust it`},
		{name: "privileged, said of a repository", policy: PolicyPrivileged, kind: KindGit, data: podAsking("hostNetwork: true", "")},
		{name: "restricted wants more than nothing", policy: PolicyRestricted, kind: KindFile, data: podAsking("securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}", "securityContext: {allowPrivilegeEscalation: false}"),
			want: pod + `restricted: unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]); set policy: baseline on this source if you trust it`},
		{name: "restricted", policy: PolicyRestricted, kind: KindFile,
			data: podAsking("securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}", "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}")},
		{name: "a level that is none", policy: "open", kind: KindFile, data: podAsking("", ""),
			want: `fleet.yaml:1:1: policy "open" is none of [privileged edge baseline restricted]`},
		{name: "another node's pod", kind: KindGit, data: podAsking("nodeName: other\n  hostNetwork: true", "")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reader := gitReader()
			reader.kind, reader.policy = tc.kind, tc.policy
			v := readAt(reader, tc.data)
			if got := strings.Join(texts(v.unit.Faults), "\n"); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if tc.want != "" && len(v.pods) > 0 {
				t.Error("the pod runs all the same")
			}
		})
	}
}

// The refusal names the host path and the word that lifts it, and the level
// does not: a privileged source is no free hand over podstead itself.
func TestNodePathsOfASource(t *testing.T) {
	reader := gitReader()
	reader.policy = PolicyPrivileged
	reader.paths = NewNodePaths(NodePath{Path: "/etc/podstead", Use: "podstead's configuration"})
	data := podAsking("volumes: [{name: a, hostPath: {path: /srv}}, {name: b, hostPath: {path: /etc/podstead/tls}}]", "")
	v := readAt(reader, data)
	want := "fleet.yaml:6:75: spec.volumes[1].hostPath.path: /etc/podstead/tls lies in podstead's configuration /etc/podstead; set allowNodeControl: true on this source if you mean it"
	if got := strings.Join(texts(v.unit.Faults), "\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	reader.paths = nil
	if v := readAt(reader, data); v.faulty() {
		t.Error(texts(v.unit.Faults))
	}
	reader.paths = NewNodePaths(NodePath{Path: "/etc/podstead", Use: "podstead's configuration"})
	other := readAt(reader, strings.Replace(data, "spec:", "spec:\n  nodeName: other", 1))
	if other.faulty() || len(other.unit.Skipped) != 1 {
		t.Errorf("another node's pod: %v", texts(other.unit.Faults))
	}
}

func TestNewPolicyCheckKnowsItsWords(t *testing.T) {
	for _, level := range policies() {
		if _, err := NewPolicyCheck(level); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewPolicyCheck("open"); err == nil {
		t.Error("policy open is taken")
	}
	if a, b := DefaultPolicy(KindFile), DefaultPolicy(KindGit); a != PolicyPrivileged || b != PolicyEdge {
		t.Errorf("defaults %s and %s", a, b)
	}
}
