//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// registry is Debian's docker-registry on loopback, which an engine trusts
// without TLS. It wants a name and a password.
type registry struct {
	address        string
	user, password string
}

// startRegistry runs one that holds an image, which the engine has not.
func startRegistry(t *testing.T, image, name string) (r registry, ref string) {
	t.Helper()
	dir, number := t.TempDir(), freePort(t)
	r = registry{address: fmt.Sprintf("127.0.0.1:%d", number), user: "reader", password: "p4ss w0rd"}
	must := func(err error, out []byte) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	users, err := exec.Command("htpasswd", "-nbB", r.user, r.password).Output()
	must(err, nil)
	must(os.WriteFile(filepath.Join(dir, "htpasswd"), users, 0o600), nil)
	config := fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %s/data}}\nhttp: {addr: %q}\nauth: {htpasswd: {realm: test, path: %s/htpasswd}}\n", dir, r.address, dir)
	must(os.WriteFile(filepath.Join(dir, "config.yml"), []byte(config), 0o600), nil)
	server, err := rig.Start(exec.Command("docker-registry", "serve", filepath.Join(dir, "config.yml")), filepath.Join(dir, "log"))
	must(err, nil)
	t.Cleanup(func() { _, _ = server.End(syscall.SIGKILL, patience) }) // by that signal

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = server.Until(ctx, often, func() error {
		resp, err := http.Get("http://" + r.address + "/v2/")
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	})
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	must(err, log)

	ref = r.address + "/" + name
	settings := filepath.Join(dir, "docker")
	must(os.Mkdir(settings, 0o700), nil)
	must(os.WriteFile(filepath.Join(settings, "config.json"), []byte(r.logins()), 0o600), nil)
	for _, words := range [][]string{{"tag", image, ref}, {"push", "-q", ref}, {"rmi", ref}} {
		out, err := exec.Command("docker", append([]string{"--config", settings}, words...)...).CombinedOutput()
		must(err, out)
	}
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", "-f", ref).Run() }) // it may never have come
	return r, ref
}

// logins is the content of a config.json, and of a Secret of type
// kubernetes.io/dockerconfigjson.
func (r registry) logins() string {
	auth := base64.StdEncoding.EncodeToString([]byte(r.user + ":" + r.password))
	text, _ := json.Marshal(map[string]any{"auths": map[string]any{r.address: map[string]string{"auth": auth}}}) // never fails
	return string(text)
}

// An image of a registry that wants a login is pulled with the pod's
// imagePullSecrets; without them the pod says that it may not.
func TestPullSecrets(t *testing.T) {
	t.Parallel()
	r, ref := startRegistry(t, image1, "private/busybox:1")
	n := startNode(t)
	n.put("lamp.yaml", pod("lamp", "imagePullSecrets: [{name: registry}]",
		"containers:", runIn(ref, "main", idle, "imagePullPolicy: Always")))
	n.awaitPod("lamp", "to be refused", func(p v1.Pod) bool {
		return waits("main", "ErrImagePull", "")(p) || waits("main", "ImagePullBackOff", "")(p)
	})
	n.await("the missing secret to be named", func() error {
		for _, e := range n.events("lamp", "FailedToRetrieveImagePullSecret") {
			if strings.Contains(e.Message, "registry") {
				return nil
			}
		}
		return errors.New("no event names it")
	})
	began := time.Now()
	n.put("registry.yaml", strings.Replace(secret("registry", ".dockerconfigjson", r.logins()),
		"metadata:", "type: kubernetes.io/dockerconfigjson\nmetadata:", 1))
	n.awaitReady("lamp")
	t.Logf("the pod ran %s after its secret had come", time.Since(began).Round(time.Millisecond))
	if strings.Contains(n.log(), r.password) || strings.Contains(n.log(), base64.StdEncoding.EncodeToString([]byte(r.user+":"+r.password))) {
		t.Error("the log tells the password")
	}
}
