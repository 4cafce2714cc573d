package gitrepo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// connectSSH starts upload-pack on the server.
func (r *Repo) connectSSH(ctx context.Context) (link, error) {
	port := r.at.port
	if port == "" {
		port = "22"
	}
	addr := net.JoinHostPort(r.at.host, port)
	config, err := r.sshConfig(addr)
	if err != nil {
		return nil, err
	}
	conn, err := r.dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	guard := watch(ctx, func() { _ = conn.Close() })
	defer guard.Close()
	client, err := handshake(conn, addr, config)
	if err != nil {
		_ = conn.Close() // mostly done already, and an error of that names our port
		return nil, err
	}
	s, err := runUploadPack(client, r.at.path)
	if err != nil {
		_ = client.Close()
		_ = client.Wait()
		return nil, err
	}
	return s, nil
}

func (r *Repo) sshConfig(addr string) (*ssh.ClientConfig, error) {
	signer, err := r.signer()
	if err != nil {
		return nil, err
	}
	hosts, err := r.knownHosts(addr)
	if err != nil {
		return nil, err
	}
	user := r.at.user
	if user == "" {
		user = "git"
	}
	return &ssh.ClientConfig{
		User:              user,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyCallback:   hosts.check,
		HostKeyAlgorithms: hosts.algorithms,
		ClientVersion:     "SSH-2.0-podstead",
	}, nil
}

// opened is a private key, and what it was read from: a passphrase is made to be
// slow, so that the files are read for each visit but opened only when they have
// changed.
type opened struct {
	from   [sha256.Size]byte
	signer ssh.Signer
}

// signer reads the key anew for each visit.
func (r *Repo) signer() (ssh.Signer, error) {
	key, err := readSecret(r.cfg.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read sshKeyFile: %w", err)
	}
	var passphrase []byte
	if r.cfg.PassphraseFile != "" {
		if passphrase, err = readSecret(r.cfg.PassphraseFile); err != nil {
			return nil, fmt.Errorf("read sshKeyPassphraseFile: %w", err)
		}
		passphrase = bytes.TrimRight(passphrase, "\r\n")
	}
	from := sha256.Sum256(slices.Concat(key, []byte{0}, passphrase))
	if r.key.signer != nil && r.key.from == from {
		return r.key.signer, nil
	}
	signer, err := openKey(key, passphrase)
	if err != nil {
		return nil, fmt.Errorf("read sshKeyFile %s: %w", r.cfg.KeyFile, err)
	}
	r.key = opened{from, signer}
	return signer, nil
}

func openKey(key, passphrase []byte) (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKey(key)
	var encrypted *ssh.PassphraseMissingError
	switch {
	case err == nil:
		return signer, nil
	case !errors.As(err, &encrypted):
		return nil, errors.New("it holds no private key that can be read")
	case passphrase == nil:
		return nil, errors.New("it is encrypted, and no sshKeyPassphraseFile is configured")
	}
	if signer, err = ssh.ParsePrivateKeyWithPassphrase(key, passphrase); err != nil {
		return nil, errors.New("the passphrase does not open it")
	}
	return signer, nil
}

func handshake(conn net.Conn, addr string, config *ssh.ClientConfig) (*ssh.Client, error) {
	c, channels, requests, err := ssh.NewClientConn(conn, addr, config)
	if err != nil {
		if strings.Contains(err.Error(), "unable to authenticate") {
			return nil, fmt.Errorf("the server refuses the key for user %s", config.User)
		}
		return nil, err
	}
	return ssh.NewClient(c, channels, requests), nil
}

func runUploadPack(client *ssh.Client, path string) (*stream, error) {
	session, err := client.NewSession()
	if err != nil {
		return nil, err
	}
	// A server that takes no such variable speaks version 0.
	_ = session.Setenv("GIT_PROTOCOL", "version=2")
	stderr := &tail{}
	session.Stderr = stderr
	in, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Start(uploadPack + " " + quote(path)); err != nil {
		return nil, fmt.Errorf("start %s on the server: %w", uploadPack, err)
	}
	end := func() {
		_ = session.Close()
		_ = client.Close()
		_ = session.Wait()
		_ = client.Wait()
	}
	return &stream{in: in, out: newPktReader(out), stderr: stderr, end: end}, nil
}
