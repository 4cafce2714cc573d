package podspec

import (
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hidden is part of every Secret's value in these tests, and of no text for people.
const hidden = "hunter2"

func configMap(name string, data map[string]string) *v1.ConfigMap {
	return &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: data}
}

func secretOf(name string, data map[string][]byte) *v1.Secret {
	return &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: data}
}

// inObjects is a container with the objects that these tests know.
func inObjects(c v1.Container) ContainerInput {
	p := pod(c)
	return ContainerInput{
		Pod: p, Container: &p.Spec.Containers[0],
		ConfigMaps: map[string]*v1.ConfigMap{
			"app":   configMap("app", map[string]string{"b": "from b", "a": "from a", "log.level": "debug"}),
			"more":  {BinaryData: map[string][]byte{"bin": {0xff}}, Data: map[string]string{"b": "more b"}},
			"empty": configMap("empty", nil),
		},
		Secrets: map[string]*v1.Secret{
			"login": secretOf("login", map[string][]byte{"user": []byte("u=1\n$(A)"), "password": []byte(hidden + "==")}),
			"blob":  secretOf("blob", map[string][]byte{"raw": []byte(hidden + "\xff"), "nul": []byte(hidden + "\x00" + hidden)}),
		},
	}
}

func fromConfigMap(name, prefix string, optional bool) v1.EnvFromSource {
	return v1.EnvFromSource{Prefix: prefix, ConfigMapRef: &v1.ConfigMapEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: name}, Optional: &optional}}
}

func fromSecret(name, prefix string, optional bool) v1.EnvFromSource {
	return v1.EnvFromSource{Prefix: prefix, SecretRef: &v1.SecretEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: name}, Optional: &optional}}
}

func configMapKey(variable, name, key string, optional bool) v1.EnvVar {
	ref := &v1.ConfigMapKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: name}, Key: key, Optional: &optional}
	return v1.EnvVar{Name: variable, ValueFrom: &v1.EnvVarSource{ConfigMapKeyRef: ref}}
}

func secretKey(variable, name, key string, optional bool) v1.EnvVar {
	ref := &v1.SecretKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: name}, Key: key, Optional: &optional}
	return v1.EnvVar{Name: variable, ValueFrom: &v1.EnvVarSource{SecretKeyRef: ref}}
}

func TestEnvironmentOfObjects(t *testing.T) {
	tests := []struct {
		name      string
		container v1.Container
		want      []string
		wantArgs  []string
	}{
		{
			name:      "keys of one object are sorted",
			container: v1.Container{EnvFrom: []v1.EnvFromSource{fromConfigMap("app", "", false)}},
			want:      []string{"a=from a", "b=from b", "log.level=debug"},
		},
		{
			name:      "the later object counts, binaryData is no variable",
			container: v1.Container{EnvFrom: []v1.EnvFromSource{fromConfigMap("app", "", false), fromConfigMap("more", "", false)}},
			want:      []string{"a=from a", "log.level=debug", "b=more b"},
		},
		{
			name:      "prefix",
			container: v1.Container{EnvFrom: []v1.EnvFromSource{fromConfigMap("more", "X_", false), fromSecret("login", "S_", false)}},
			want:      []string{"X_b=more b", "S_password=hunter2==", "S_user=u=1\n$(A)"},
		},
		{
			name: "env has precedence and sees envFrom",
			container: v1.Container{
				EnvFrom: []v1.EnvFromSource{fromConfigMap("more", "", false)},
				Env:     []v1.EnvVar{{Name: "c", Value: "<$(b)>"}, {Name: "b", Value: "mine"}},
				Args:    []string{"$(c) $(b)"},
			},
			want:     []string{"c=<more b>", "b=mine"},
			wantArgs: []string{"<more b> mine"},
		},
		{
			name: "values from objects are not expanded and stay as they are (B82)",
			container: v1.Container{
				Env:  []v1.EnvVar{{Name: "A", Value: "1"}, secretKey("U", "login", "user", false), {Name: "V", Value: "$(U)"}},
				Args: []string{"$(U)"},
			},
			want:     []string{"A=1", "U=u=1\n$(A)", "V=u=1\n$(A)"},
			wantArgs: []string{"u=1\n$(A)"},
		},
		{
			name: "what is optional and missing is not set (B85)",
			container: v1.Container{
				EnvFrom: []v1.EnvFromSource{fromConfigMap("none", "", true), fromSecret("none", "", true)},
				Env: []v1.EnvVar{
					configMapKey("A", "none", "k", true), configMapKey("B", "app", "none", true),
					secretKey("C", "none", "k", true), secretKey("D", "login", "none", true),
					configMapKey("E", "more", "bin", true),
				},
			},
		},
		{
			name: "a missing optional key does not unset what envFrom has set",
			container: v1.Container{
				EnvFrom: []v1.EnvFromSource{fromConfigMap("more", "", false)},
				Env:     []v1.EnvVar{configMapKey("b", "none", "k", true)},
			},
			want: []string{"b=more b"},
		},
		{
			name:      "an empty object sets nothing",
			container: v1.Container{EnvFrom: []v1.EnvFromSource{fromConfigMap("empty", "", false)}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, _, err := Container(inObjects(test.container))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Env, test.want) || !reflect.DeepEqual(got.Args, test.wantArgs) {
				t.Errorf("env %q, args %q; want %q, %q", got.Env, got.Args, test.want, test.wantArgs)
			}
		})
	}
}

// B86: the container waits with the kubelet's words, and no value is in them.
func TestEnvironmentThatCannotBe(t *testing.T) {
	env := func(v ...v1.EnvVar) v1.Container { return v1.Container{Name: "c", Env: v} }
	from := func(f ...v1.EnvFromSource) v1.Container { return v1.Container{Name: "c", EnvFrom: f} }
	tests := []struct {
		name      string
		container v1.Container
		want      string
	}{
		{name: "no ConfigMap", container: env(configMapKey("A", "x", "k", false)), want: `configmap "x" not found`},
		{name: "no Secret", container: env(secretKey("A", "x", "k", false)), want: `secret "x" not found`},
		{name: "no ConfigMap for envFrom", container: from(fromConfigMap("x", "", false)), want: `configmap "x" not found`},
		{name: "no Secret for envFrom", container: from(fromSecret("x", "", false)), want: `secret "x" not found`},
		{name: "no key of a ConfigMap", container: env(configMapKey("A", "app", "k", false)), want: `couldn't find key k in ConfigMap default/app`},
		{name: "binaryData is no text", container: env(configMapKey("A", "more", "bin", false)), want: `couldn't find key bin in ConfigMap default/more`},
		{name: "no key of a Secret", container: env(secretKey("A", "login", "k", false)), want: `couldn't find key k in Secret default/login`},
		{
			name: "bytes that are no text", container: env(secretKey("A", "blob", "raw", false)),
			want: "key raw of Secret default/blob: an environment variable cannot hold a value that is not UTF-8: mount it as a file",
		},
		{
			name: "NUL", container: env(secretKey("A", "blob", "nul", true)),
			want: "key nul of Secret default/blob: an environment variable cannot hold a value with a NUL byte: mount it as a file",
		},
		{
			name: "NUL of envFrom", container: from(fromSecret("blob", "", true)),
			want: "key nul of Secret default/blob: an environment variable cannot hold a value with a NUL byte: mount it as a file",
		},
		{
			name: "NUL as written", container: env(v1.EnvVar{Name: "A", Value: hidden + "\x00"}),
			want: `variable "A" of container "c": an environment variable cannot hold a value with a NUL byte: mount it as a file`,
		},
		{
			name: "a name that would be another's", container: from(fromSecret("login", "A=", false)),
			want: `key password of Secret default/login: "A=password" cannot be the name of an environment variable`,
		},
		{name: "an empty envFrom", container: from(v1.EnvFromSource{}), want: "an envFrom entry names neither a ConfigMap nor a Secret"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, notes, err := Container(inObjects(test.container))
			if err == nil || err.Error() != test.want {
				t.Errorf("error = %v\nwant    %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), hidden) || notes != nil {
				t.Errorf("too much is told: %v, %v", err, notes)
			}
		})
	}
}

func TestNamesThatShellsCannotRead(t *testing.T) {
	_, notes, err := Container(inObjects(v1.Container{Name: "c", EnvFrom: []v1.EnvFromSource{
		fromConfigMap("app", "", false), fromConfigMap("app", "1", false), fromSecret("login", "S-", false), fromSecret("login", "OK_", false),
	}}))
	if err != nil {
		t.Fatal(err)
	}
	const rest = " are considered invalid environment variable names: they are set all the same, but shells cannot read them."
	want := []Note{
		{InvalidEnvironmentVariableNames, "Keys [log.level] from the EnvFrom ConfigMap default/app" + rest},
		{InvalidEnvironmentVariableNames, "Keys [1a, 1b, 1log.level] from the EnvFrom ConfigMap default/app" + rest},
		{InvalidEnvironmentVariableNames, "Keys [S-password, S-user] from the EnvFrom Secret default/login" + rest},
	}
	if !reflect.DeepEqual(notes, want) {
		t.Errorf("notes = %q\nwant    %q", notes, want)
	}
}

// References to references double with each variable; memory must not.
func TestReferencesStayBounded(t *testing.T) {
	doubling := v1.Container{Name: "c", Env: []v1.EnvVar{{Name: "A", Value: strings.Repeat("x", 1024)}}}
	for range 40 {
		doubling.Env = append(doubling.Env, v1.EnvVar{Name: "A", Value: "$(A)$(A)"})
	}
	wide := v1.Container{Name: "c", Args: []string{strings.Repeat("$(A)", 1<<16)}, Env: []v1.EnvVar{{Name: "A", Value: strings.Repeat("x", 1<<16)}}}
	many := wide
	many.Args = nil
	for range 200 {
		many.Args = append(many.Args, "$(A)")
	}
	const tooLong = "environment and arguments are larger than the 6 MiB that a kernel takes"
	for _, test := range []struct {
		name      string
		container v1.Container
		want      string
	}{
		{name: "one after another", container: doubling, want: `variable "A" of container "c": ` + tooLong},
		{name: "in one word", container: wide, want: `args of container "c": ` + tooLong},
		{name: "in many words", container: many, want: `args of container "c": ` + tooLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, _, err := Container(inObjects(test.container)); err == nil || err.Error() != test.want {
				t.Errorf("error = %v, want %s", err, test.want)
			}
		})
	}
}

func TestVolumesOfObjectsAreReadOnly(t *testing.T) {
	in := inObjects(v1.Container{Name: "c", VolumeMounts: []v1.VolumeMount{
		{Name: "cm", MountPath: "/cm"}, {Name: "s", MountPath: "/s"}, {Name: "p", MountPath: "/p"}, {Name: "e", MountPath: "/e"},
	}})
	in.Pod.Spec.Volumes = []v1.Volume{
		{Name: "cm", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{}}},
		{Name: "s", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{}}},
		{Name: "p", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{}}},
		{Name: "e"},
	}
	in.Volumes = map[string]string{"cm": "/1", "s": "/2", "p": "/3", "e": "/4"}
	config, _, err := Container(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range config.Mounts {
		if want := m.ContainerPath != "/e"; m.ReadOnly != want {
			t.Errorf("mount on %s: read-only %v, want %v", m.ContainerPath, m.ReadOnly, want)
		}
	}
}
