package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// maxSecret bounds what is read of a secret's file.
const maxSecret = 64 << 10

// errRefused is a push whose secret is wrong or missing.
var errRefused = errors.New("no valid signature or token")

// authentic checks that who sends the body knows a secret. Any one of the forms
// that are understood is enough; all compare in constant time.
func (s *Server) authentic(h http.Header, body []byte) error {
	secret, errSecret := readSecret(s.cfg.SecretFile)
	token, errToken := readSecret(s.cfg.TokenFile)
	if len(secret) > 0 && (signed(h, body, secret) || equal(h.Get("X-Gitlab-Token"), secret)) {
		return nil
	}
	if len(token) > 0 && (equal(bearer(h), token) || equal(h.Get("X-Podstead-Token"), token)) {
		return nil
	}
	if err := inOneLine(errSecret, errToken); err != nil {
		return fmt.Errorf("%w, and %w", errRefused, err)
	}
	return errRefused
}

// Check says why pushes cannot be believed or answered now, on one line: what of
// the secret, the token, the certificate and its key is missing or cannot be used.
func (s *Server) Check() error {
	_, errSecret := readSecret(s.cfg.SecretFile)
	_, errToken := readSecret(s.cfg.TokenFile)
	var errCert error
	if s.certs != nil {
		if _, err := s.certs.get(nil); err != nil {
			errCert = fmt.Errorf("read certificate: %w", err)
		}
	}
	return inOneLine(errSecret, errToken, errCert)
}

// inOneLine is errors.Join for a log.
func inOneLine(errs ...error) error {
	var all error
	for _, err := range errs {
		switch {
		case err == nil:
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// readSecret reads a secret without the line break at its end. No file is no
// secret; an empty one is an error, since anyone can sign with nothing.
func readSecret(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSecret))
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, fmt.Errorf("read secret: %s is empty", path)
	}
	return data, nil
}

// signed checks the HMAC-SHA256 of the body: GitHub's header (which others use
// too), Gitea's, Forgejo's and ours.
func signed(h http.Header, body, secret []byte) bool {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write(body) // a hash takes everything
	want := mac.Sum(nil)
	for _, name := range []string{"X-Hub-Signature-256", "X-Hub-Signature", "X-Gitea-Signature", "X-Forgejo-Signature", "X-Gogs-Signature", "X-Podstead-Signature"} {
		got, err := hex.DecodeString(strings.TrimPrefix(h.Get(name), "sha256="))
		if err == nil && hmac.Equal(got, want) {
			return true
		}
	}
	return false
}

func bearer(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// equal compares hashes, so that not even the length shows.
func equal(got string, want []byte) bool {
	if got == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256(want)
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
