package podspec

import (
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestPullLogins(t *testing.T) {
	const config = `{"auths":{"r.example":{"auth":"aHVudGVyMg=="}},"credHelpers":{}}`
	typed := func(kind v1.SecretType, key, content string) *v1.Secret {
		s := secretOf("", map[string][]byte{key: []byte(content)})
		s.Type = kind
		return s
	}
	secrets := map[string]*v1.Secret{
		"new":    typed(v1.SecretTypeDockerConfigJson, v1.DockerConfigJsonKey, config),
		"old":    typed(v1.SecretTypeDockercfg, v1.DockerConfigKey, `{"r.example":{"username":"u","password":"hunter2"}}`),
		"opaque": typed(v1.SecretTypeOpaque, v1.DockerConfigJsonKey, config),
		"broken": typed(v1.SecretTypeDockerConfigJson, v1.DockerConfigJsonKey, `{"auths":{"r`),
		"other":  typed(v1.SecretTypeDockerConfigJson, v1.DockerConfigKey, config),
		"bare":   typed(v1.SecretTypeDockerConfigJson, v1.DockerConfigJsonKey, `{}`),
		"array":  typed(v1.SecretTypeDockercfg, v1.DockerConfigKey, `["hunter2"]`),
		"hollow": typed(v1.SecretTypeDockercfg, v1.DockerConfigKey, ``),
	}
	tests := []struct {
		name    string
		refs    []string
		want    []string
		missing []string
	}{
		{name: "none"},
		{name: "in the order written", refs: []string{"old", "new"},
			want: []string{`{"auths":{"r.example":{"username":"u","password":"hunter2"}}}`, config}},
		{name: "named twice counts once", refs: []string{"new", "new", "gone", "gone"}, want: []string{config}, missing: []string{"gone"}},
		{name: "an empty name is nobody's", refs: []string{"", "new"}, want: []string{config}},
		{name: "what cannot be used is named", refs: []string{"opaque", "broken", "new", "other", "bare", "array", "hollow", "gone"},
			want: []string{config}, missing: []string{"opaque", "broken", "other", "bare", "array", "hollow", "gone"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := pod(v1.Container{})
			for _, name := range test.refs {
				p.Spec.ImagePullSecrets = append(p.Spec.ImagePullSecrets, v1.LocalObjectReference{Name: name})
			}
			logins, missing := PullLogins(p, secrets)
			var got []string
			for _, login := range logins {
				got = append(got, string(login))
			}
			if !reflect.DeepEqual(got, test.want) || !reflect.DeepEqual(missing, test.missing) {
				t.Errorf("got %q, missing %q; want %q, %q", got, missing, test.want, test.missing)
			}
		})
	}
}
