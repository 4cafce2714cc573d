package cli

import (
	"bytes"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/manifests"
)

// fullPod has one of everything that a description shows.
func fullPod() v1.Pod {
	pod := somePods()[1]
	yes, grace := true, int64(30)
	pod.Labels = map[string]string{"app": "web", "tier": "front"}
	pod.Annotations[manifests.AnnotationManifest] = "/etc/podstead/manifests/web.yaml:1"
	pod.Annotations[manifests.AnnotationLastAct] = "2030-01-01T11:55:00Z start-container main, attempt 3: ContainerExited: exit code 3 after 2h (source file, /etc/podstead/manifests/web.yaml:1)"
	pod.Annotations["note"] = "two\nlines"
	pod.Status.HostIP, pod.Status.QOSClass = "192.0.2.1", v1.PodQOSBurstable
	pod.Status.PodIPs = []v1.PodIP{{IP: "10.112.0.2"}, {IP: "fd00::2"}}
	pod.Spec.TerminationGracePeriodSeconds = &grace
	pod.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
	pod.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}}
	main := &pod.Spec.Containers[0]
	main.Image, main.Command, main.Args = "registry.example/web:1", []string{"sh", "-c"}, []string{"serve\nforever"}
	main.Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 8080, Name: "http"}, {ContainerPort: 53, Protocol: v1.ProtocolUDP}}
	main.Resources = v1.ResourceRequirements{
		Limits:   v1.ResourceList{v1.ResourceMemory: resource.MustParse("64Mi"), v1.ResourceCPU: resource.MustParse("1")},
		Requests: v1.ResourceList{v1.ResourceMemory: resource.MustParse("32Mi")},
	}
	main.LivenessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Path: "/live", Port: intstr.FromString("http")}}, TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3}
	main.ReadinessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}}}
	main.StartupProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	main.EnvFrom = []v1.EnvFromSource{
		{Prefix: "P_", ConfigMapRef: &v1.ConfigMapEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: "settings"}}},
		{SecretRef: &v1.SecretEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: "login"}, Optional: &yes}},
	}
	main.Env = []v1.EnvVar{
		{Name: "MODE", Value: "fast"},
		{Name: "LEVEL", ValueFrom: &v1.EnvVarSource{ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: "settings"}, Key: "level"}}},
		{Name: "TOKEN", ValueFrom: &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: "login"}, Key: "token", Optional: &yes}}},
		{Name: "POD_IP", ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
		{Name: "CPUS", ValueFrom: &v1.EnvVarSource{ResourceFieldRef: &v1.ResourceFieldSelector{Resource: "limits.cpu"}}},
	}
	main.VolumeMounts = []v1.VolumeMount{{Name: "data", MountPath: "/data", SubPath: "web"}, {Name: "settings", MountPath: "/etc/web", ReadOnly: true}}
	pod.Spec.InitContainers = []v1.Container{{Name: "setup", Image: "registry.example/setup:1"}}
	pod.Status.InitContainerStatuses = []v1.ContainerStatus{{Name: "setup", Ready: true, ContainerID: "docker://s1", State: v1.ContainerState{
		Terminated: &v1.ContainerStateTerminated{Reason: "Completed", StartedAt: ago(3600e9), FinishedAt: ago(3599e9)}}}}
	s := &pod.Status.ContainerStatuses[0]
	s.ContainerID, s.ImageID, s.State.Running.StartedAt = "docker://m1", "docker-pullable://web@sha256:00", ago(300e9)
	s.LastTerminationState.Terminated.ExitCode, s.LastTerminationState.Terminated.Message = 3, "out of\nhope"
	hostType := v1.HostPathDirectoryOrCreate
	pod.Spec.Volumes = []v1.Volume{
		{Name: "data", VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/srv/web", Type: &hostType}}},
		{Name: "settings", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: "settings"}}}},
		{Name: "login", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "login"}}},
		{Name: "scratch", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{Medium: v1.StorageMediumMemory}}},
	}
	return pod
}

func TestAPodIsDescribed(t *testing.T) {
	pod, source := fullPod(), someSources()[0]
	source.Units[0].Name = "/etc/podstead/manifests/web.yaml"
	next := somePods()[1]
	next.UID, next.Annotations = "u9", map[string]string{manifests.AnnotationRevision: "sha256:ba9876543210"}
	next.Status = v1.PodStatus{Phase: v1.PodPending, ContainerStatuses: []v1.ContainerStatus{{State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}}}}}
	d := podDescription{pod: &pod, versions: []v1.Pod{next}, now: noon}
	d.setSource([]api.Source{source})
	var out bytes.Buffer
	p := newPage(&out)
	d.print(p)
	p.events(someEvents(), noon)
	if err := p.w.Flush(); err != nil {
		t.Fatal(err)
	}
	golden(t, "describe_pod.txt", out.String())
}

func TestAPodThatEndsIsDescribed(t *testing.T) {
	pod := somePods()[0]
	end, grace := metav1.NewTime(noon.Add(20e9)), int64(30)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &end, &grace
	var out bytes.Buffer
	p := newPage(&out)
	(&podDescription{pod: &pod, now: noon}).print(p)
	p.events(nil, noon)
	if err := p.w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Terminating (lasts 10s)", "Termination Grace Period:  30s", "Reason:       ErrImagePull", "Events:", "<none>"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

func TestSourcesAndTheNodeAreDescribed(t *testing.T) {
	var out bytes.Buffer
	p := newPage(&out)
	for _, s := range someSources() {
		p.source(&s, []v1.Pod{fullPod()}, noon)
		p.text(0, "")
	}
	h := health{Sources: someSources(), Pods: []v1.Pod{somePods()[0], fullPod()}, Agent: api.Status{Node: "n1", NodeID: "id", Version: "v1", PID: 7, Started: noon.Add(-3600e9), RootDir: "/var/lib/podstead",
		Engine: api.Engine{Endpoint: "unix:///var/run/docker.sock", Name: "docker", Version: "20.10.24", APIVersion: "1.41"}}}
	p.node(h, noon)
	if err := p.w.Flush(); err != nil {
		t.Fatal(err)
	}
	golden(t, "describe_others.txt", out.String())
}

// Who writes a manifest writes names, commands, messages and annotations.
func TestDescriptionsDoNotObeyManifests(t *testing.T) {
	const evil = "\x1b[2J\a\r\nStatus:  Running\x00"
	pod := fullPod()
	pod.Labels[evil], pod.Annotations[evil] = evil, evil
	pod.Status.Message, pod.Status.Reason = evil, evil
	c := &pod.Spec.Containers[0]
	c.Name, c.Image, c.Command, c.Env[0].Value, c.WorkingDir = evil, evil, []string{evil}, evil, evil
	c.Ports[0].Name, c.VolumeMounts[0].MountPath = evil, evil
	pod.Spec.Volumes[0].HostPath.Path, pod.Spec.Volumes[1].Name = evil, evil
	event := someEvents()[0]
	event.Message = evil
	var out bytes.Buffer
	p := newPage(&out)
	(&podDescription{pod: &pod, now: noon}).print(p)
	p.events([]v1.Event{event}, noon)
	if err := p.w.Flush(); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\a\r\x00") || strings.Contains(out.String(), "\nStatus:  Running") {
		t.Errorf("%q", out.String())
	}
}
