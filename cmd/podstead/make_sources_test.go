package main

import (
	"strings"
	"testing"

	"github.com/podstead/podstead/config"
)

func TestAnotherSecretIsAnotherSource(t *testing.T) {
	keyed := func(secret config.Secret) string {
		return keyOf(config.Config{}, config.Source{Name: "a", HTTP: &config.HTTP{URL: "https://h", Headers: config.Headers{"A": {secret}}}})
	}
	if strings.Contains(keyed("s3cr3t"), "s3cr3t") || keyed("s3cr3t") == keyed("another") {
		t.Error("a secret shows, or counts for nothing")
	}
}
