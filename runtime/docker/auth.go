package docker

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/registry"
	"k8s.io/kubernetes/pkg/credentialprovider"
)

// anonymous pulls without credentials.
const anonymous = ""

// credentials are those that fit an image, each in the engine's encoding and
// most specific first: of the given pull secrets, then of the node. With none
// that fits it is one anonymous pull; so it is with a file, a credential helper
// or a secret that can't be used, which the error then names.
func credentials(ctx context.Context, name string, logins [][]byte) ([]string, error) {
	auths, loginErr := loginCredentials(name, logins)
	node, nodeErr := nodeCredentials(ctx, name)
	for _, auth := range node {
		if !slices.Contains(auths, auth) {
			auths = append(auths, auth)
		}
	}
	if len(auths) == 0 {
		auths = []string{anonymous}
	}
	return auths, errors.Join(loginErr, nodeErr)
}

// loginCredentials finds what pull secrets have for an image.
func loginCredentials(name string, logins [][]byte) ([]string, error) {
	var faults []error
	keyring := &credentialprovider.BasicDockerKeyring{}
	for i, login := range logins {
		var config dockerConfig
		if err := json.Unmarshal(login, &config); err != nil {
			// The decoder's own words may quote the secret.
			faults = append(faults, fmt.Errorf("registry credentials: pull secret %d of %d is not a docker config.json", i+1, len(logins)))
			continue
		}
		keyring.Add(nil, config.Auths)
	}
	return lookUp(keyring, name), errors.Join(faults...)
}

// lookUp is what a keyring has for an image. An entry without a word in it is
// one whose secret a helper keeps.
func lookUp(keyring *credentialprovider.BasicDockerKeyring, name string) []string {
	found, _ := keyring.Lookup(name)
	var auths []string
	for _, a := range found {
		if a.Username != "" || a.Password != "" {
			auths = append(auths, encode(registry.AuthConfig{Username: a.Username, Password: a.Password}))
		}
	}
	return auths
}

// nodeCredentials finds what the node's docker configuration has for an image.
// The file is read anew at each pull.
func nodeCredentials(ctx context.Context, name string) ([]string, error) {
	file, err := readDockerConfig()
	if err != nil {
		return nil, err
	}
	keyring := &credentialprovider.BasicDockerKeyring{}
	keyring.Add(nil, file.Auths)
	auths := lookUp(keyring, name)
	helped, err := file.askHelper(ctx, name)
	if helped != nil {
		auths = append(auths, encode(*helped))
	}
	return auths, err
}

func encode(auth registry.AuthConfig) string {
	text, _ := json.Marshal(auth) // strings only
	return base64.URLEncoding.EncodeToString(text)
}

// dockerConfig is the part of docker's config.json that tells of registries.
type dockerConfig struct {
	path        string
	Auths       credentialprovider.DockerConfig `json:"auths"`
	CredHelpers map[string]string               `json:"credHelpers"`
	CredsStore  string                          `json:"credsStore"`
}

// readDockerConfig reads the first file there is, where docker's own client
// and then the kubelet look for it.
func readDockerConfig() (dockerConfig, error) {
	for _, dir := range configDirs() {
		path := filepath.Join(dir, "config.json")
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return dockerConfig{}, fmt.Errorf("registry credentials: %w", err)
		}
		config := dockerConfig{path: path}
		if err := json.Unmarshal(text, &config); err != nil {
			// The decoder's own words may quote the file.
			return dockerConfig{}, fmt.Errorf("registry credentials: %s is not a docker config.json", path)
		}
		return config, nil
	}
	return dockerConfig{}, nil
}

func configDirs() []string {
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return []string{dir}
	}
	dirs := []string{"/var/lib/kubelet", "/.docker", "/root/.docker"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append([]string{filepath.Join(home, ".docker")}, dirs...)
	}
	return dirs
}

// askHelper runs the credential helper that the file names for an image's
// registry, nil if it names none or the helper knows nothing.
func (c dockerConfig) askHelper(ctx context.Context, name string) (*registry.AuthConfig, error) {
	server := serverOf(name)
	helper := c.CredHelpers[server]
	if helper == "" {
		helper = c.CredsStore
	}
	if helper == "" {
		return nil, nil
	}
	program := "docker-credential-" + helper
	cmd := exec.CommandContext(ctx, program, "get")
	cmd.Stdin = strings.NewReader(server)
	out, err := cmd.Output()
	switch {
	case bytes.Contains(out, []byte("credentials not found")):
		return nil, nil
	case err != nil: // the output may hold secrets, so it is not told
		return nil, fmt.Errorf("registry credentials: %s, named in %s: %w", program, c.path, err)
	}
	var answer struct{ Username, Secret string }
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("registry credentials: %s, named in %s, gave no credentials", program, c.path)
	}
	if answer.Username == "<token>" { // the helpers' word for an identity token
		return &registry.AuthConfig{IdentityToken: answer.Secret, ServerAddress: server}, nil
	}
	return &registry.AuthConfig{Username: answer.Username, Password: answer.Secret}, nil
}

// serverOf is the key of an image's registry in docker's configuration.
func serverOf(name string) string {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return ""
	}
	if domain := reference.Domain(named); domain != "docker.io" {
		return domain
	}
	return "https://index.docker.io/v1/"
}
