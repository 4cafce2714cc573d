package config

import (
	"encoding/json"
	"time"
)

// The document that holds what a KubeletConfiguration has no words for.
const (
	DocumentVersion = "podstead/v1alpha1"
	DocumentKind    = "Configuration"
)

// Document is a Configuration of podstead/v1alpha1. docs/configuration.md
// describes every field; a test compares the two.
type Document struct {
	// APIVersion is podstead/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is Configuration.
	Kind string `json:"kind"`
	// Sources are where manifests come from beside the flags' sources, and after
	// them in order of precedence.
	Sources []Source `json:"sources"`
	// Webhook opens a listener for pushes; absent for none.
	Webhook *Webhook `json:"webhook"`
}

// Source is one source with its settings. Exactly one of File, HTTP and Git
// is set.
type Source struct {
	// Name is unique among all sources, a DNS label: it names the source in
	// commands, records and on disk.
	Name string `json:"name"`
	// Interval is how often the source looks by itself.
	Interval Duration `json:"interval"`
	// Policy is what its pods may do: privileged, edge, baseline or restricted.
	Policy string `json:"policy"`
	// AllowNodeControl lets its pods mount what rules the node: podstead's own
	// folders, a source's folder, the engine's socket.
	AllowNodeControl bool `json:"allowNodeControl"`
	// UnsupportedKinds is warn or strict.
	UnsupportedKinds string `json:"unsupportedKinds"`
	// Validation is strict, or warn: unknown fields are warnings then.
	Validation string `json:"validation"`
	// MaxRemoval is how many of its pods one new state may remove, like 50%.
	MaxRemoval string `json:"maxRemoval"`
	// ObjectsFrom names sources whose ConfigMaps and Secrets its pods may use,
	// after its own.
	ObjectsFrom []string `json:"objectsFrom"`

	// File reads a folder or a file.
	File *File `json:"file"`
	// HTTP asks a URL.
	HTTP *HTTP `json:"http"`
	// Git follows a repository.
	Git *Git `json:"git"`
}

// File is a folder of manifests, or one manifest.
type File struct {
	// Path of the folder or file.
	Path string `json:"path"`
}

// HTTP is a URL whose body is manifests.
type HTTP struct {
	// URL to GET, without credentials in it.
	URL string `json:"url"`
	// Headers to send; a value may be one text or a list.
	Headers Headers `json:"headers"`
	// BasicAuth sends a user name and the password of a file.
	BasicAuth *BasicAuth `json:"basicAuth"`
	// BearerTokenFile holds the token to send.
	BearerTokenFile string `json:"bearerTokenFile"`
	// CAFile holds the certificates to trust instead of the system's.
	CAFile string `json:"caFile"`
	// ClientCertFile holds the certificate (PEM) that podstead shows of itself.
	ClientCertFile string `json:"clientCertFile"`
	// ClientKeyFile holds the key of ClientCertFile.
	ClientKeyFile string `json:"clientKeyFile"`
	// Proxy to go through instead of what HTTP_PROXY and the like say.
	Proxy string `json:"proxy"`
	// Timeout bounds a whole answer.
	Timeout Duration `json:"timeout"`
	// IdleTimeout bounds the silence within one.
	IdleTimeout Duration `json:"idleTimeout"`
	// MaxBodySize bounds an answer.
	MaxBodySize Size `json:"maxBodySize"`
}

// BasicAuth is a name and a password.
type BasicAuth struct {
	// Username as the server knows it.
	Username string `json:"username"`
	// PasswordFile holds the password.
	PasswordFile string `json:"passwordFile"`
}

// Git is a git repository.
type Git struct {
	// URL of the repository: https, ssh, user@host:path or file.
	URL string `json:"url"`
	// Ref is a branch, a tag or a commit; empty for the server's HEAD.
	Ref string `json:"ref"`
	// Paths are the folders or files to read; empty for all of the commit.
	Paths []string `json:"paths"`
	// Include are the globs of files that count; empty for all manifests.
	Include []string `json:"include"`
	// Exclude are the globs of files that do not.
	Exclude []string `json:"exclude"`
	// Username is for https.
	Username string `json:"username"`
	// PasswordFile holds the password or token for https.
	PasswordFile string `json:"passwordFile"`
	// SSHKeyFile holds a private key.
	SSHKeyFile string `json:"sshKeyFile"`
	// SSHKeyPassphraseFile holds what opens the key of SSHKeyFile.
	SSHKeyPassphraseFile string `json:"sshKeyPassphraseFile"`
	// KnownHostsFile holds the host keys to accept.
	KnownHostsFile string `json:"knownHostsFile"`
	// CAFile holds the certificates to trust instead of the system's.
	CAFile string `json:"caFile"`
	// Timeout bounds one look.
	Timeout Duration `json:"timeout"`
	// MaxPackSize bounds what one fetch may bring.
	MaxPackSize Size `json:"maxPackSize"`
}

// Webhook is a listener that lets a push be seen at once.
type Webhook struct {
	// Address to listen on, host:port.
	Address string `json:"address"`
	// Path that is answered.
	Path string `json:"path"`
	// SecretFile holds the secret of signed pushes (GitHub, Gitea, Forgejo,
	// generic) and GitLab's token.
	SecretFile string `json:"secretFile"`
	// TokenFile holds the token of generic pushes.
	TokenFile string `json:"tokenFile"`
	// TLSCertFile holds the certificate (PEM) that makes it https.
	TLSCertFile string `json:"tlsCertFile"`
	// TLSKeyFile holds the key of TLSCertFile.
	TLSKeyFile string `json:"tlsKeyFile"`
}

// Duration is a duration, written like 30s; 0 for the default.
type Duration time.Duration

// Size is a number of bytes, written like 64Mi; 0 for the default.
type Size int64

// Headers are header names and their values.
type Headers map[string][]Secret

// Secret is text that is never shown: it may be a credential.
type Secret string

// hidden stands for a secret wherever one would be shown.
const hidden = "[hidden]"

// String keeps the value out of logs and errors.
func (Secret) String() string { return hidden }

// GoString does so for %#v.
func (Secret) GoString() string { return hidden }

// MarshalJSON does so for structured logs.
func (Secret) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }
