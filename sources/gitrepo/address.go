package gitrepo

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"
)

// transport is how a server is reached.
type transport string

const (
	overHTTPS transport = "https"
	overHTTP  transport = "http"
	overSSH   transport = "ssh"
	overFile  transport = "file"
)

// address is a repository's URL, taken apart.
type address struct {
	via   transport
	user  string
	host  string // name or address, without brackets
	port  string // "" for the transport's own
	path  string
	shown string // for people: without credentials
}

var errPassword = errors.New("URL holds a password, which would show in the configuration: put it into passwordFile")

// parseURL takes a URL apart. Its errors do not repeat it: it may hold a secret.
func parseURL(raw string) (address, error) {
	switch {
	case raw == "":
		return address{}, errors.New("a URL is needed")
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return address{}, errors.New("URL holds spaces or control characters")
	case strings.Contains(raw, "://"):
		return parseFull(raw)
	case strings.HasPrefix(raw, "/"):
		return localAddress(raw)
	}
	return parseShort(raw)
}

func parseFull(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, errors.New("URL can't be parsed")
	}
	if _, secret := u.User.Password(); secret {
		return address{}, errPassword
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return address{}, errors.New("URL of a repository has no query and no fragment")
	}
	at := address{via: transport(u.Scheme), user: u.User.Username(), host: u.Hostname(), port: u.Port(), path: u.Path}
	switch at.via {
	case overFile:
		if at.host != "" && at.host != "localhost" {
			return address{}, fmt.Errorf("file URL names the host %q: write file:///path", at.host)
		}
		return localAddress(at.path)
	case overHTTPS, overHTTP:
		at.path = u.EscapedPath()
		at.shown = u.Scheme + "://" + u.Host + at.path
	case overSSH:
		at.path = strings.Replace(at.path, "/~", "~", 1)
		at.shown = "ssh://" + u.Host + u.Path
	default:
		return address{}, fmt.Errorf("URL's scheme %q is none of https, http, ssh and file", u.Scheme)
	}
	return at, at.complete()
}

// parseShort takes [user@]host:path apart, which is ssh.
func parseShort(raw string) (address, error) {
	user, rest := "", raw
	if before, after, found := strings.Cut(raw, "@"); found {
		user, rest = before, after
	}
	host, repo, found := strings.Cut(rest, ":")
	if end := strings.Index(rest, "]:"); strings.HasPrefix(rest, "[") && end > 0 {
		host, repo, found = rest[1:end], rest[end+2:], true
	}
	switch {
	case !found || strings.Contains(host, "/"):
		return address{}, errors.New("URL is neither a URL, nor user@host:path, nor an absolute path")
	case strings.Contains(user, ":"):
		return address{}, errPassword
	}
	at := address{via: overSSH, user: user, host: host, path: repo, shown: rest}
	return at, at.complete()
}

func localAddress(repo string) (address, error) {
	at := address{via: overFile, path: path.Clean(repo), shown: "file://" + path.Clean(repo)}
	if !path.IsAbs(repo) {
		return address{}, errors.New("path of a local repository is not absolute")
	}
	return at, nil
}

func (a address) complete() error {
	switch {
	case a.host == "":
		return errors.New("URL has no host")
	case strings.HasPrefix(a.host, "-"), strings.HasPrefix(a.path, "-"):
		return errors.New("URL's host or path begins with a dash")
	case strings.Trim(a.path, "/") == "":
		return errors.New("URL has no path")
	}
	return nil
}

// loopback tells whether the host can only be this machine.
func (a address) loopback() bool {
	ip := net.ParseIP(a.host)
	return a.host == "localhost" || ip != nil && ip.IsLoopback()
}

// check lists what the rest of the configuration has that does not fit the URL,
// and settles who the user is.
func (c *Config) check(at *address) (errs []error) {
	web := at.via == overHTTPS || at.via == overHTTP
	for _, o := range []struct {
		name, value string
		fits        bool
		only        string
	}{
		{"username", c.Username, web || at.via == overSSH, "https and ssh"},
		{"passwordFile", c.PasswordFile, web, "https"},
		{"caFile", c.CAFile, at.via == overHTTPS, "https"},
		{"sshKeyFile", c.KeyFile, at.via == overSSH, "ssh"},
		{"sshKeyPassphraseFile", c.PassphraseFile, at.via == overSSH, "ssh"},
		{"knownHostsFile", c.KnownHostsFile, at.via == overSSH, "ssh"},
	} {
		if o.value != "" && !o.fits {
			errs = append(errs, fmt.Errorf("%s is for %s, and the URL is %s", o.name, o.only, at.via))
		}
	}
	switch {
	case at.user != "" && c.Username != "" && at.user != c.Username:
		errs = append(errs, errors.New("URL names another user than username does"))
	case at.user == "":
		at.user = c.Username
	}
	if at.via == overSSH && c.KeyFile == "" {
		errs = append(errs, errors.New("sshKeyFile is needed for ssh"))
	}
	if at.via == overHTTP && !at.loopback() && (at.user != "" || c.PasswordFile != "") {
		errs = append(errs, errors.New("credentials are not sent over http, which anybody on the way reads: use https"))
	}
	return errs
}
