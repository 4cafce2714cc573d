package rig

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repository is a bare git repository on this machine.
type Repository struct {
	Dir string
}

// NewRepository makes an empty one whose HEAD is main.
func NewRepository(dir string) (*Repository, error) {
	r := &Repository{Dir: dir}
	_, err := r.Git(nil, "init", "--quiet", "--bare", "--initial-branch=main", dir)
	return r, err
}

// Git runs git in the repository with no settings but its own, reading in, and
// returns what it printed.
func (r *Repository) Git(in io.Reader, words ...string) (string, error) {
	cmd := exec.Command("git", words...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DIR="+r.Dir,
		"GIT_AUTHOR_NAME=rig", "GIT_AUTHOR_EMAIL=rig@localhost", "GIT_COMMITTER_NAME=rig", "GIT_COMMITTER_EMAIL=rig@localhost")
	cmd.Stdin = in
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", words[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Commit makes the contents of a folder the newest commit of main, as a push
// does, and returns its id.
func (r *Repository) Commit(folder, message string) (string, error) {
	for _, words := range [][]string{
		{"-c", "core.bare=false", "--work-tree=" + folder, "add", "--all", "."},
		{"-c", "core.bare=false", "--work-tree=" + folder, "commit", "--quiet", "--allow-empty", "--message", message},
	} {
		if _, err := r.Git(nil, words...); err != nil {
			return "", err
		}
	}
	return r.Git(nil, "rev-parse", "main")
}

// GitBackend answers smart HTTP for the repositories below a folder, with git's
// own http-backend.
func GitBackend(root string) (http.Handler, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("find git: %w", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}, nil
}
