package manifests

import (
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// Every field of a pod is decided on, in the table: one that a new version of
// Kubernetes brings fails here, and is refused until it has its line.
func TestEveryFieldIsDecidedOn(t *testing.T) {
	seen := map[string]bool{}
	walkType(t, typeReader{}, reflect.TypeFor[v1.Pod](), "", seen)
	for path := range fieldRules {
		if !seen[path] {
			t.Errorf("%s is in the table, but not in the API", path)
		}
	}
}

func walkType(t *testing.T, types typeReader, typ reflect.Type, generic string, seen map[string]bool) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ.Kind() == reflect.Slice:
		decide(t, types, typ.Elem(), genericItem(generic), seen)
	case typ.Kind() == reflect.Struct && !isScalarType(typ):
		for name, field := range types.fields(typ) {
			decide(t, types, field, child(generic, name), seen)
		}
	default:
		t.Errorf("%s is to be looked into, but has nothing inside", generic)
	}
}

func decide(t *testing.T, types typeReader, typ reflect.Type, generic string, seen map[string]bool) {
	if seen[generic] {
		return
	}
	seen[generic] = true
	r := fieldRules[generic]
	switch {
	case r.verdict == 0:
		t.Errorf("%s is not in the table", generic)
	case r.verdict == inside:
		walkType(t, types, typ, generic, seen)
	case (r.verdict == never || r.verdict == idle) && r.why == "":
		t.Errorf("%s does not say why", generic)
	}
}

func TestUnsupportedFieldsAreRefusedByName(t *testing.T) {
	for _, tc := range []struct {
		name, container, spec string
		want                  string // one refusal, after the unit's name
	}{
		{name: "liveness", container: "livenessProbe: {exec: {command: [a]}}", want: "9:5: spec.containers[0].livenessProbe: not supported yet: livenessProbe (planned)"},
		{name: "an empty probe", container: "startupProbe: {}", want: "9:5: spec.containers[0].startupProbe: not supported yet: startupProbe (planned)"},
		{name: "lifecycle", container: "lifecycle: {preStop: {sleep: {seconds: 1}}}", want: "9:5: spec.containers[0].lifecycle: not supported yet: lifecycle (planned)"},
		{name: "fieldRef", container: "env:\n- name: A\n  valueFrom: {fieldRef: {fieldPath: metadata.name}}", want: "11:19: spec.containers[0].env[0].valueFrom.fieldRef: not supported yet: fieldRef (planned)"},
		{name: "resourceFieldRef", container: "env:\n- name: A\n  valueFrom: {resourceFieldRef: {resource: limits.cpu}}", want: "11:19: spec.containers[0].env[0].valueFrom.resourceFieldRef: not supported yet: resourceFieldRef (planned)"},
		{name: "fileKeyRef", container: "env:\n- name: A\n  valueFrom: {fileKeyRef: {volumeName: a, path: b, key: c}}", want: "11:19: spec.containers[0].env[0].valueFrom.fileKeyRef: not supported yet: fileKeyRef (planned)"},
		{name: "subPath", container: "volumeMounts:\n- {name: v, mountPath: /v, subPath: s}", spec: "volumes: [{name: v, emptyDir: {}}]", want: "10:32: spec.containers[0].volumeMounts[0].subPath: not supported yet: subPath (planned)"},
		{name: "mountPropagation", container: "volumeMounts:\n- {name: v, mountPath: /v, mountPropagation: Bidirectional}", spec: "volumes: [{name: v}]", want: "10:32: spec.containers[0].volumeMounts[0].mountPropagation: not supported yet: mountPropagation Bidirectional (planned; supported now: None)"},
		{name: "terminal", container: "tty: true", want: "9:5: spec.containers[0].tty: not supported yet: tty (planned)"},
		{name: "volumeDevices", container: "volumeDevices: [{name: a, devicePath: /b}]", want: "9:5: spec.containers[0].volumeDevices: not supported yet: volumeDevices (planned)"},
		{name: "huge pages", container: "resources: {limits: {hugepages-2Mi: 4Mi}}", want: "9:26: spec.containers[0].resources.limits[hugepages-2Mi]: not supported yet: hugepages-2Mi (planned)"},
		{name: "claims", container: "resources: {claims: [{name: a}]}", want: "9:17: spec.containers[0].resources.claims: not supported yet: claims (planned)"},
		{name: "procMount", container: "securityContext: {procMount: Unmasked}", want: "9:23: spec.containers[0].securityContext.procMount: not supported yet: procMount Unmasked (planned; supported now: Default)"},
		{name: "a seccomp profile", container: "securityContext: {seccompProfile: {type: Localhost}}", want: "9:40: spec.containers[0].securityContext.seccompProfile.type: not supported yet: type Localhost (planned; supported now: RuntimeDefault, Unconfined)"},
		{name: "SELinux", container: "securityContext: {seLinuxOptions: {level: a}}", want: "9:23: spec.containers[0].securityContext.seLinuxOptions: not supported yet: seLinuxOptions (planned)"},
		{name: "AppArmor", container: "securityContext: {appArmorProfile: {type: Unconfined}}", want: "9:23: spec.containers[0].securityContext.appArmorProfile: not supported yet: appArmorProfile (planned)"},
		{name: "Windows", container: "securityContext: {windowsOptions: {runAsUserName: a}}", want: "9:23: spec.containers[0].securityContext.windowsOptions: not supported: windowsOptions (this is a Linux node)"},
		{name: "a sidecar", spec: "initContainers:\n- {name: a, image: b, restartPolicy: Always}", want: "11:25: spec.initContainers[0].restartPolicy: not supported yet: restartPolicy (planned)"},
		{name: "fsGroup, even 0", spec: "securityContext: {fsGroup: 0}", want: "10:21: spec.securityContext.fsGroup: not supported yet: fsGroup (planned)"},
		{name: "sysctls", spec: "securityContext: {sysctls: [{name: a, value: b}]}", want: "10:21: spec.securityContext.sysctls: not supported yet: sysctls (planned)"},
		{name: "dnsPolicy", spec: "dnsPolicy: Default", want: "10:3: spec.dnsPolicy: not supported yet: dnsPolicy Default (planned; supported now: ClusterFirst)"},
		{name: "dnsConfig", spec: "dnsConfig: {nameservers: [1.1.1.1]}", want: "10:3: spec.dnsConfig: not supported yet: dnsConfig (planned)"},
		{name: "hostAliases", spec: "hostAliases: [{ip: 1.1.1.1, hostnames: [a]}]", want: "10:3: spec.hostAliases: not supported yet: hostAliases (planned)"},
		{name: "subdomain", spec: "subdomain: a", want: "10:3: spec.subdomain: not supported yet: subdomain (planned)"},
		{name: "activeDeadlineSeconds", spec: "activeDeadlineSeconds: 1", want: "10:3: spec.activeDeadlineSeconds: not supported yet: activeDeadlineSeconds (planned)"},
		{name: "runtimeClassName", spec: "runtimeClassName: a", want: "10:3: spec.runtimeClassName: not supported yet: runtimeClassName (planned)"},
		{name: "a service account", spec: "serviceAccountName: robot", want: "10:3: spec.serviceAccountName: not supported: serviceAccountName robot (static pods have no service account)"},
		{name: "a token", spec: "automountServiceAccountToken: true", want: "10:3: spec.automountServiceAccountToken: not supported: automountServiceAccountToken (static pods have no service account)"},
		{name: "user namespaces", spec: "hostUsers: false", want: "10:3: spec.hostUsers: not supported yet: hostUsers false (planned; supported now: true)"},
		{name: "affinity to pods", spec: "affinity: {podAntiAffinity: {}}", want: "10:14: spec.affinity.podAntiAffinity: not supported yet: podAntiAffinity (planned)"},
		{name: "another system", spec: "os: {name: windows}", want: "10:8: spec.os.name: not supported: name windows (this is a Linux node)"},
		{name: "resources of the pod", spec: "resources: {limits: {cpu: 1}}", want: "10:3: spec.resources: not supported yet: resources (planned)"},
		{name: "ephemeral containers", spec: "ephemeralContainers: [{name: a, image: b}]", want: "10:3: spec.ephemeralContainers: not supported: ephemeralContainers (only an API server adds them to a running pod)"},
		{name: "a file's owner", spec: "volumes: [{name: a, configMap: {name: b, items: [{key: c, path: d, user: 5}]}}]", want: "10:70: spec.volumes[0].configMap.items[0].user: not supported yet: user (planned)"},
		{name: "all files' owner", spec: "volumes: [{name: a, secret: {secretName: b, defaultUser: 5}}]", want: "10:47: spec.volumes[0].secret.defaultUser: not supported yet: defaultUser (planned)"},
		{name: "the pod's fields in a volume", spec: "volumes: [{name: a, downwardAPI: {items: []}}]", want: "10:23: spec.volumes[0].downwardAPI: not supported yet: downwardAPI (planned)"},
		{name: "projected fields of the pod", spec: "volumes: [{name: a, projected: {sources: [{downwardAPI: {items: []}}]}}]", want: "10:46: spec.volumes[0].projected.sources[0].downwardAPI: not supported yet: downwardAPI (planned)"},
		{name: "a projected token", spec: "volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: b}}]}}]", want: "10:46: spec.volumes[0].projected.sources[0].serviceAccountToken: not supported: serviceAccountToken (static pods have no service account)"},
		{name: "trust bundles", spec: "volumes: [{name: a, projected: {sources: [{clusterTrustBundle: {name: b, path: c}}]}}]", want: "10:46: spec.volumes[0].projected.sources[0].clusterTrustBundle: not supported: clusterTrustBundle (there is no API server that holds trust bundles; put the certificates into a ConfigMap)"},
		{name: "certificates", spec: "volumes: [{name: a, projected: {sources: [{podCertificate: {signerName: b, keyType: c}}]}}]", want: "10:46: spec.volumes[0].projected.sources[0].podCertificate: not supported: podCertificate (nothing signs certificates here)"},
		{name: "a claim", spec: "volumes: [{name: a, persistentVolumeClaim: {claimName: b}}]", want: "10:23: spec.volumes[0].persistentVolumeClaim: not supported yet: persistentVolumeClaim (planned)"},
		{name: "nfs", spec: "volumes: [{name: a, nfs: {server: b, path: /c}}]", want: "10:23: spec.volumes[0].nfs: not supported: nfs (no storage driver runs here; mount it on the node and use hostPath)"},
		{name: "a socket", spec: "volumes: [{name: a, hostPath: {path: /b, type: Socket}}]", want: "10:44: spec.volumes[0].hostPath.type: not supported yet: type Socket (planned; supported now: Directory, DirectoryOrCreate, File, FileOrCreate)"},
		{name: "huge page memory", spec: "volumes: [{name: a, emptyDir: {medium: HugePages}}]", want: "10:34: spec.volumes[0].emptyDir.medium: not supported yet: medium HugePages (planned; supported now: Memory)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			container := tc.container
			if container == "" {
				container = "args: []"
			}
			_, faults := faultsOf(podWith(container, tc.spec), edge)
			sameLines(t, faults, []string{"pod.yaml:" + tc.want})
		})
	}
}

// What Kubernetes sets anyway may be written out, and what has no meaning on a
// single node may stay: most manifests come from a cluster.
func TestDefaultsWrittenOutAreAccepted(t *testing.T) {
	pod := podWith(`
stdin: false
stdinOnce: false
tty: false
envFrom: []
livenessProbe:
lifecycle: null
resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
resources: {}
terminationMessagePath: /dev/termination-log
terminationMessagePolicy: File
imagePullPolicy: IfNotPresent
volumeMounts:
- {name: v, mountPath: /v, readOnly: true, subPath: "", mountPropagation: None, recursiveReadOnly: Disabled}
securityContext:
  procMount: Default
  privileged: true
  capabilities: {add: [NET_ADMIN], drop: [ALL]}
  seccompProfile: {type: Unconfined}
`, `
dnsPolicy: ClusterFirst
restartPolicy: Always
schedulerName: default-scheduler
serviceAccountName: default
serviceAccount: default
automountServiceAccountToken: false
enableServiceLinks: true
preemptionPolicy: PreemptLowerPriority
priority: 2000001000
priorityClassName: system-node-critical
terminationGracePeriodSeconds: 30
imagePullSecrets: []
hostAliases: []
hostUsers: true
subdomain: ""
setHostnameAsFQDN: false
os: {name: linux}
securityContext: {supplementalGroupsPolicy: Merge, fsGroupChangePolicy: Always, supplementalGroups: [1]}
affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]
tolerations: [{operator: Exists}]
volumes:
- {name: v, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
- {name: w, hostPath: {path: /w, type: ""}}
- {name: x, hostPath: {path: /x, type: FileOrCreate}}
- {name: z, emptyDir: }
`)
	warnings, faults := faultsOf(pod, edge)
	sameLines(t, faults, nil)
	sameLines(t, warnings, nil)
	if sa := runnable(t, pod).Spec.ServiceAccountName; sa != "" {
		t.Errorf("serviceAccountName %q reaches the pod", sa)
	}
}

func TestAnnotationsThatAskForMoreAreRefused(t *testing.T) {
	annotated := func(annotation string) string {
		return strings.Replace(lamp, "name: lamp\nspec", "name: lamp\n  annotations:\n    "+annotation+"\nspec", 1)
	}
	for _, tc := range []struct {
		name, annotation string
		want             []string
	}{
		{name: "any other", annotation: "example.com/a: b"},
		{name: "AppArmor's default", annotation: "container.apparmor.security.beta.kubernetes.io/lamp: runtime/default"},
		{name: "an AppArmor profile", annotation: "container.apparmor.security.beta.kubernetes.io/lamp: localhost/a",
			want: []string{"pod.yaml:6:5: metadata.annotations[container.apparmor.security.beta.kubernetes.io/lamp]: not supported yet: AppArmor profiles (planned)"}},
		{name: "devices", annotation: "podstead/devices: /dev/kvm",
			want: []string{"pod.yaml:6:5: metadata.annotations[podstead/devices]: not supported yet: annotation podstead/devices (planned)"}},
		{name: "restart on change", annotation: `podstead/restart-on-change: "true"`},
		{name: "no restart on change", annotation: `podstead/restart-on-change: "false"`},
		{name: "restart on change, misspelt", annotation: `podstead/restart-on-change: "yes"`,
			want: []string{`pod.yaml:6:5: metadata.annotations[podstead/restart-on-change]: want "true" or "false"`}},
		{name: "restart on change, unquoted", annotation: "podstead/restart-on-change: true",
			want: []string{"pod.yaml:6:33: metadata.annotations[podstead/restart-on-change]: want a string, got a boolean: quote it"}},
		{name: "an object's annotation", annotation: "podstead/node-selector: zone=a",
			want: []string{"pod.yaml:6:5: metadata.annotations[podstead/node-selector]: is for ConfigMaps and Secrets; a pod has spec.nodeSelector"}},
		{name: "a mirror pod", annotation: "kubernetes.io/config.mirror: abc",
			want: []string{"pod.yaml:6:5: metadata.annotations[kubernetes.io/config.mirror]: a copy of a mirror pod: remove this annotation and the node's name from metadata.name"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, faults := faultsOf(annotated(tc.annotation), edge)
			sameLines(t, faults, tc.want)
		})
	}
}
