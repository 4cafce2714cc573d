package podspec

import (
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// PullLogins returns the registry logins of a pod's imagePullSecrets in the
// order written, as contents of a .dockerconfigjson each; the older .dockercfg is
// brought to that form. Secrets that are not there, or hold no logins that can be
// read, are named in missing: with the others a pull may still work. Nothing of a
// Secret's content comes out but through logins.
func PullLogins(pod *v1.Pod, secrets map[string]*v1.Secret) (logins [][]byte, missing []string) {
	var seen []string
	for _, ref := range pod.Spec.ImagePullSecrets {
		if ref.Name == "" || slices.Contains(seen, ref.Name) { // validation lets empty names pass
			continue
		}
		seen = append(seen, ref.Name)
		if login := loginOf(secrets[ref.Name]); login != nil {
			logins = append(logins, login)
		} else {
			missing = append(missing, ref.Name)
		}
	}
	return logins, missing
}

// loginOf is the content of a pull secret; nil for one that is none.
func loginOf(secret *v1.Secret) []byte {
	if secret == nil {
		return nil
	}
	var registries map[string]json.RawMessage
	switch secret.Type {
	case v1.SecretTypeDockerConfigJson:
		var config struct {
			Auths map[string]json.RawMessage `json:"auths"`
		}
		content := secret.Data[v1.DockerConfigJsonKey]
		if json.Unmarshal(content, &config) != nil || len(config.Auths) == 0 {
			return nil
		}
		return content
	case v1.SecretTypeDockercfg:
		if json.Unmarshal(secret.Data[v1.DockerConfigKey], &registries) != nil || len(registries) == 0 {
			return nil
		}
		content, err := json.Marshal(map[string]any{"auths": registries})
		if err != nil {
			return nil
		}
		return content
	}
	return nil
}
