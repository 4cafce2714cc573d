package podspec

import (
	"maps"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// mounting is a pod whose container mounts the first volume and whose other
// container mounts the rest.
func mounting(c v1.Container, volumes ...v1.VolumeSource) *v1.Pod {
	p := pod(c)
	for i, source := range volumes {
		name := string(rune('a' + i))
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: source})
		if i == 0 {
			p.Spec.Containers[0].VolumeMounts = []v1.VolumeMount{{Name: name, MountPath: "/" + name}}
		}
	}
	return p
}

func item(key, path string) v1.KeyToPath { return v1.KeyToPath{Key: key, Path: path} }

func TestUsedDigest(t *testing.T) {
	yes := true
	ref := func(name string) v1.LocalObjectReference { return v1.LocalObjectReference{Name: name} }
	whole := v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: ref("app")}}
	items := v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: ref("app"), Items: []v1.KeyToPath{item("used", "etc/used")}}}
	secretVolume := v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "login", Optional: &yes}}
	projected := v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{
		{ConfigMap: &v1.ConfigMapProjection{LocalObjectReference: ref("app"), Items: []v1.KeyToPath{item("used", "f"), item("clash", "g")}}},
		{Secret: &v1.SecretProjection{LocalObjectReference: ref("login"), Items: []v1.KeyToPath{item("used", "g")}}},
	}}}
	env := func(v ...v1.EnvVar) *v1.Pod { return mounting(v1.Container{Env: v}) }
	tests := []struct {
		name    string
		pod     *v1.Pod
		changes map[string]bool // object/key → is it seen
		gone    string          // digest, once all objects are gone: "", "same" or "other"
	}{
		{name: "nothing", pod: env(v1.EnvVar{Name: "A", Value: "1"}), gone: "same",
			changes: map[string]bool{"app/used": false, "login/used": false}},
		{name: "variable of a ConfigMap", pod: env(configMapKey("A", "app", "used", false)),
			changes: map[string]bool{"app/used": true, "app/idle": false, "app/bin": false, "login/used": false}},
		{name: "optional variable of a Secret", pod: env(secretKey("A", "login", "used", true)), gone: "other",
			changes: map[string]bool{"login/used": true, "login/idle": false, "app/used": false}},
		{name: "optional variable that is not there", pod: env(configMapKey("A", "app", "new", true)), gone: "same",
			changes: map[string]bool{"app/new": true, "app/used": false}},
		{name: "envFrom", pod: mounting(v1.Container{EnvFrom: []v1.EnvFromSource{fromConfigMap("app", "", false)}}),
			changes: map[string]bool{"app/used": true, "app/idle": true, "app/new": true, "app/bin": false, "login/used": false}},
		{name: "optional envFrom of a Secret", pod: mounting(v1.Container{EnvFrom: []v1.EnvFromSource{fromSecret("login", "", true)}}), gone: "other",
			changes: map[string]bool{"login/new": true, "login/idle": true, "app/used": false}},
		{name: "whole volume", pod: mounting(v1.Container{}, whole),
			changes: map[string]bool{"app/used": true, "app/new": true, "app/bin": true, "login/used": false}},
		{name: "items of a volume", pod: mounting(v1.Container{}, items),
			changes: map[string]bool{"app/used": true, "app/idle": false, "app/bin": false, "app/new": false}},
		{name: "optional volume of a Secret", pod: mounting(v1.Container{}, secretVolume), gone: "other",
			changes: map[string]bool{"login/used": true, "login/new": true}},
		{name: "projected, the later of two wins", pod: mounting(v1.Container{}, projected),
			changes: map[string]bool{"app/used": true, "app/clash": false, "login/used": true, "login/idle": false}},
		{name: "another container's volume", pod: mounting(v1.Container{}, items, whole, secretVolume),
			changes: map[string]bool{"app/used": true, "app/idle": false, "login/used": false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &test.pod.Spec.Containers[0]
			before := UsedDigest(test.pod, c, digestMaps(""), digestSecrets(""))
			if before == "" || before != UsedDigest(test.pod, c, digestMaps(""), digestSecrets("")) {
				t.Fatalf("digest %q is not one", before)
			}
			for changed, want := range test.changes {
				after := UsedDigest(test.pod, c, digestMaps(changed), digestSecrets(changed))
				if got := after != before; got != want {
					t.Errorf("change of %s is seen: %v, want %v", changed, got, want)
				}
			}
			gone := UsedDigest(test.pod, c, nil, nil)
			if (gone == "") != (test.gone == "") || (gone == before) != (test.gone == "same") {
				t.Errorf("digest without objects = %q (before: %q), want %q", gone, before, test.gone)
			}
		})
	}
}

func digestMaps(changed string) map[string]*v1.ConfigMap {
	app := configMap("app", map[string]string{"used": "1", "idle": "2", "clash": "3"})
	app.BinaryData = map[string][]byte{"bin": {0}}
	for _, key := range []string{"used", "idle", "clash", "new"} {
		if changed == "app/"+key {
			app.Data[key] = "changed"
		}
	}
	if changed == "app/bin" {
		app.BinaryData["bin"] = []byte{1}
	}
	return map[string]*v1.ConfigMap{"app": app, "other": configMap("other", nil)}
}

func digestSecrets(changed string) map[string]*v1.Secret {
	login := secretOf("login", map[string][]byte{"used": []byte("1"), "idle": []byte("2")})
	for _, key := range []string{"used", "idle", "new"} {
		if changed == "login/"+key {
			login.Data[key] = []byte("changed")
		}
	}
	return map[string]*v1.Secret{"login": login}
}

// A value that moves between neighbours, or between names and values, is a change.
func TestUsedDigestTellsBordersApart(t *testing.T) {
	p := mounting(v1.Container{EnvFrom: []v1.EnvFromSource{fromConfigMap("app", "", false)}})
	seen := map[string]map[string]string{}
	for _, data := range []map[string]string{
		{"a": "b", "c": "d"}, {"a": "", "bc": "d"}, {"ab": "", "c": "d"}, {"a": "bc", "d": ""}, {"a": "bcd"}, {},
	} {
		digest := UsedDigest(p, &p.Spec.Containers[0], map[string]*v1.ConfigMap{"app": configMap("app", data)}, nil)
		if other, twice := seen[digest]; twice {
			t.Errorf("%v and %v are one", data, other)
		}
		seen[digest] = maps.Clone(data)
	}
}

func TestUsedDigestOfWhatCannotStart(t *testing.T) {
	p := mounting(v1.Container{Env: []v1.EnvVar{secretKey("A", "blob", "raw", false)}})
	in := inObjects(p.Spec.Containers[0])
	if got := UsedDigest(p, &p.Spec.Containers[0], in.ConfigMaps, in.Secrets); got != "" {
		t.Errorf("digest = %s, want none", got)
	}
}
