package podspec

import (
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

func id(n int64) *int64 { return &n }
func yes() *bool        { b := true; return &b }
func no() *bool         { b := false; return &b }

func TestUser(t *testing.T) {
	const suffix = ` (pod: "lamp-n1_default(u1)", container: c)`
	tests := []struct {
		name    string
		pod     *v1.PodSecurityContext
		own     *v1.SecurityContext
		image   string
		want    string
		wantErr string
	}{
		{name: "unset is the image's", image: "web:staff", want: ""},
		{name: "user of the pod", pod: &v1.PodSecurityContext{RunAsUser: id(7)}, want: "7"},
		{name: "the container's wins", pod: &v1.PodSecurityContext{RunAsUser: id(7)}, own: &v1.SecurityContext{RunAsUser: id(0)}, want: "0"},
		{name: "user and group", pod: &v1.PodSecurityContext{RunAsUser: id(7), RunAsGroup: id(8)}, want: "7:8"},
		{name: "group joins the image's user", own: &v1.SecurityContext{RunAsGroup: id(8)}, image: "web:staff", want: "web:8"},
		{name: "group without any user is root's", own: &v1.SecurityContext{RunAsGroup: id(8)}, want: "0:8"},
		{name: "non-root with a user", own: &v1.SecurityContext{RunAsNonRoot: yes(), RunAsUser: id(7)}, want: "7"},
		{
			name: "non-root with user 0", own: &v1.SecurityContext{RunAsNonRoot: yes(), RunAsUser: id(0)},
			wantErr: "container's runAsUser breaks non-root policy" + suffix,
		},
		{name: "non-root, numeric image user", pod: &v1.PodSecurityContext{RunAsNonRoot: yes()}, image: "1000:0", want: ""},
		{
			name: "non-root, image user 0", pod: &v1.PodSecurityContext{RunAsNonRoot: yes()}, image: "0",
			wantErr: "container has runAsNonRoot and image will run as root" + suffix,
		},
		{
			name: "non-root, no image user", pod: &v1.PodSecurityContext{RunAsNonRoot: yes()},
			wantErr: "container has runAsNonRoot and image will run as root" + suffix,
		},
		{
			name: "non-root, named image user", pod: &v1.PodSecurityContext{RunAsNonRoot: yes()}, image: "web:1000",
			wantErr: "container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root" + suffix,
		},
		{
			name: "non-root, image user out of range", pod: &v1.PodSecurityContext{RunAsNonRoot: yes()}, image: "4294967296",
			wantErr: "container has runAsNonRoot and image has an invalid user id (4294967296). (Must be 1-(2147483647))" + suffix,
		},
		{name: "the container lifts the pod's rule", pod: &v1.PodSecurityContext{RunAsNonRoot: yes()}, own: &v1.SecurityContext{RunAsNonRoot: no()}, want: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := pod(v1.Container{Name: "c", SecurityContext: test.own})
			p.Spec.SecurityContext = test.pod
			got, _, err := Container(ContainerInput{Pod: p, Container: &p.Spec.Containers[0], Image: runtime.Image{User: test.image}})
			if message := text(err); message != test.wantErr {
				t.Fatalf("error = %q, want %q", message, test.wantErr)
			}
			if got.Security.User != test.want {
				t.Errorf("user = %q, want %q", got.Security.User, test.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSandboxUser(t *testing.T) {
	tests := []struct {
		name string
		sc   *v1.PodSecurityContext
		want string
	}{
		{name: "none"},
		{name: "user", sc: &v1.PodSecurityContext{RunAsUser: id(7)}, want: "7"},
		{name: "user and group", sc: &v1.PodSecurityContext{RunAsUser: id(7), RunAsGroup: id(8)}, want: "7:8"},
		{name: "a group alone", sc: &v1.PodSecurityContext{RunAsGroup: id(8)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := pod(v1.Container{})
			p.Spec.SecurityContext = test.sc
			if got := Sandbox(p, 0, Node{}).User; got != test.want {
				t.Errorf("user = %q, want %q", got, test.want)
			}
		})
	}
}

func TestSeccomp(t *testing.T) {
	profile := func(t v1.SeccompProfileType) *v1.SeccompProfile { return &v1.SeccompProfile{Type: t} }
	tests := []struct {
		name     string
		pod, own *v1.SeccompProfile
		want     string
	}{
		{name: "unset", want: "unconfined"},
		{name: "pod", pod: profile(v1.SeccompProfileTypeRuntimeDefault), want: ""},
		{name: "container", own: profile(v1.SeccompProfileTypeRuntimeDefault), want: ""},
		{name: "container wins", pod: profile(v1.SeccompProfileTypeRuntimeDefault), own: profile(v1.SeccompProfileTypeUnconfined), want: "unconfined"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := pod(v1.Container{SecurityContext: &v1.SecurityContext{SeccompProfile: test.own}})
			p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: test.pod}
			got, _, err := Container(ContainerInput{Pod: p, Container: &p.Spec.Containers[0]})
			if err != nil || got.Security.Seccomp != test.want {
				t.Errorf("got %q, %v; want %q", got.Security.Seccomp, err, test.want)
			}
		})
	}
}

func TestSecurityFlags(t *testing.T) {
	got := convert(t, v1.Container{SecurityContext: &v1.SecurityContext{
		Privileged: yes(), ReadOnlyRootFilesystem: yes(), AllowPrivilegeEscalation: yes(),
		Capabilities: &v1.Capabilities{Add: []v1.Capability{"CAP_SYS_TIME", "net_admin"}, Drop: []v1.Capability{"ALL"}},
	}}).Security
	want := runtime.Security{
		Privileged: true, ReadOnlyRoot: true, Seccomp: "unconfined",
		AddCaps: []string{"SYS_TIME", "NET_ADMIN"}, DropCaps: []string{"ALL"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !convert(t, v1.Container{SecurityContext: &v1.SecurityContext{AllowPrivilegeEscalation: no()}}).Security.NoNewPrivileges {
		t.Error("allowPrivilegeEscalation: false sets no-new-privileges")
	}
}
