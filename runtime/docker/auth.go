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
	"strings"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/registry"
	"k8s.io/kubernetes/pkg/credentialprovider"
)

// anonymous pulls without credentials.
const anonymous = ""

// nodeCredentials finds what the node's docker configuration has for an image,
// most specific first, each in the engine's encoding. The file is read anew at
// each pull. With none that fits it is one anonymous pull; so it is with a
// file or credential helper that can't be used, which the error then names.
func nodeCredentials(ctx context.Context, name string) ([]string, error) {
	file, err := readDockerConfig()
	if err != nil {
		return []string{anonymous}, err
	}
	keyring := &credentialprovider.BasicDockerKeyring{}
	keyring.Add(nil, file.Auths)
	found, _ := keyring.Lookup(name)
	var auths []string
	for _, a := range found {
		if a.Username == "" && a.Password == "" {
			continue // an entry whose secret a helper keeps
		}
		auths = append(auths, encode(registry.AuthConfig{Username: a.Username, Password: a.Password}))
	}
	helped, err := file.askHelper(ctx, name)
	if helped != nil {
		auths = append(auths, encode(*helped))
	}
	if len(auths) == 0 {
		auths = []string{anonymous}
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
