package gitrepo

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// hostKeys is what is known of one ssh server.
type hostKeys struct {
	files      []string
	known      ssh.HostKeyCallback
	algorithms []string // of the keys recorded; nil when there are none
}

// ownKnownHosts is ours, and wins over the user's.
const ownKnownHosts = "/etc/podstead/known_hosts"

// knownHosts reads the keys that are trusted for a server.
func (r *Repo) knownHosts(addr string) (*hostKeys, error) {
	files, err := r.knownHostsFiles()
	if err != nil {
		return nil, err
	}
	known, err := knownhosts.New(files...)
	if err != nil {
		return nil, fmt.Errorf("read known_hosts: %w", err)
	}
	h := &hostKeys{files: files, known: known}
	return h, h.find(addr)
}

func (r *Repo) knownHostsFiles() ([]string, error) {
	if r.cfg.KnownHostsFile != "" {
		return []string{r.cfg.KnownHostsFile}, nil
	}
	if _, err := os.Stat(ownKnownHosts); err == nil {
		return []string{ownKnownHosts}, nil
	}
	files := []string{"/etc/ssh/ssh_known_hosts"}
	if home, err := os.UserHomeDir(); err == nil {
		files = append([]string{filepath.Join(home, ".ssh", "known_hosts")}, files...)
	}
	there := slices.DeleteFunc(slices.Clone(files), func(path string) bool {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
	if len(there) == 0 {
		return nil, fmt.Errorf("the server's key can't be checked: none of %s, %s exists, and no knownHostsFile is configured", ownKnownHosts, strings.Join(files, ", "))
	}
	return there, nil
}

// find notes which algorithms the server's recorded keys have, so that it is
// asked for one of those and not for a key of another kind, which would look
// like somebody else's.
func (h *hostKeys) find(addr string) error {
	public := make(ed25519.PublicKey, ed25519.PublicKeySize) // nobody's
	nobody, err := ssh.NewPublicKey(public)
	if err != nil {
		return err
	}
	var wrong *knownhosts.KeyError
	if !errors.As(h.known(addr, &net.TCPAddr{}, nobody), &wrong) {
		return nil
	}
	for _, key := range wrong.Want {
		kinds := []string{key.Key.Type()}
		if kinds[0] == ssh.KeyAlgoRSA {
			kinds = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
		}
		for _, kind := range kinds {
			if !slices.Contains(h.algorithms, kind) {
				h.algorithms = append(h.algorithms, kind)
			}
		}
	}
	return nil
}

// check is asked for the key that the server shows.
func (h *hostKeys) check(addr string, remote net.Addr, key ssh.PublicKey) error {
	err := h.known(addr, remote, key)
	var wrong *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	shown := fmt.Sprintf("%s %s", key.Type(), ssh.FingerprintSHA256(key))
	switch {
	case errors.As(err, &revoked):
		return fmt.Errorf("the server's key %s is marked as revoked in %s", shown, strings.Join(h.files, ", "))
	case !errors.As(err, &wrong):
		return err
	case len(wrong.Want) == 0:
		return fmt.Errorf("the server is not known: add %s to %s, after checking its key %s",
			knownhosts.Normalize(addr), h.files[0], shown)
	}
	var recorded []string
	for _, k := range wrong.Want {
		recorded = append(recorded, fmt.Sprintf("%s %s (%s:%d)", k.Key.Type(), ssh.FingerprintSHA256(k.Key), k.Filename, k.Line))
	}
	return fmt.Errorf("the server's key is not the one that is known: it shows %s, recorded is %s", shown, strings.Join(recorded, ", "))
}
