package main

import (
	"os"
	"path/filepath"
	"testing"
)

// How the two documents of a configuration begin.
const (
	header         = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
	documentHeader = "apiVersion: podstead/v1alpha1\nkind: Configuration\n"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
