package config

import (
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// complain tells one fault of a field of a source.
type complain func(field, format string, args ...any)

func (tell complain) unless(ok bool, field, format string, args ...any) {
	if !ok {
		tell(field, format, args...)
	}
}

// oneOf refuses a word that is none of those that there are; none is the default.
func (tell complain) oneOf(word, field string, words ...string) {
	tell.unless(word == "" || slices.Contains(words, word), field, "must be one of %s, is %q", strings.Join(words, ", "), word)
}

// check tells every fault of one source by itself. names are all sources'.
func (s Source) check(tell complain, names map[string]bool) {
	if s.Name == "" {
		tell("name", "is missing")
	} else if why := utilvalidation.IsDNS1123Label(s.Name); len(why) > 0 {
		tell("name", "%q cannot name a source: %s", s.Name, strings.Join(why, ", "))
	}
	tell.unless(s.Interval >= 0, "interval", "must not be below 0, is %s", s.Interval.Or(0))
	tell.oneOf(s.Policy, "policy", "privileged", "edge", "baseline", "restricted")
	tell.oneOf(s.UnsupportedKinds, "unsupportedKinds", "warn", "strict")
	tell.oneOf(s.Validation, "validation", "strict", "warn")
	tell.unless(s.MaxRemoval == "" || isShare(s.MaxRemoval), "maxRemoval", "must be from 0%% to 100%%, like 50%%, is %q", s.MaxRemoval)
	for i, name := range s.ObjectsFrom {
		field := "objectsFrom[" + strconv.Itoa(i) + "]"
		tell.unless(names[name], field, "there is no source %q", name)
		tell.unless(name != s.Name, field, "names the source itself, whose objects it sees anyway")
		tell.unless(!slices.Contains(s.ObjectsFrom[:i], name), field, "%q is named twice", name)
	}
	s.checkPlace(tell)
}

func (s Source) checkPlace(tell complain) {
	kinds := 0
	if s.File != nil {
		kinds++
		tell.unless(s.File.Path != "", "file.path", "is missing")
	}
	if s.HTTP != nil {
		kinds++
		s.HTTP.check(tell)
	}
	if s.Git != nil {
		kinds++
		s.Git.check(tell)
	}
	tell.unless(kinds == 1, "", "must have exactly one of file, http and git, has %d", kinds)
	tell.unless(s.File == nil || s.MaxRemoval == "", "maxRemoval", "is not for file sources: deleting a file removes its pods")
}

func (h HTTP) check(tell complain) {
	u, err := url.Parse(h.URL)
	tell.unless(err == nil && slices.Contains([]string{"http", "https"}, u.Scheme) && u.Host != "", "http.url", "must be like https://host/path")
	for name, values := range h.Headers {
		tell.unless(isToken(name), join("http.headers", name), "is no name of a header")
		for _, value := range values {
			tell.unless(!strings.ContainsAny(string(value), "\r\n\x00"), join("http.headers", name), "has a line break in its value")
		}
	}
	if h.BasicAuth != nil {
		tell.unless(h.BasicAuth.Username != "", "http.basicAuth.username", "is missing")
		tell.unless(h.BasicAuth.PasswordFile != "", "http.basicAuth.passwordFile", "is missing")
		tell.unless(h.BearerTokenFile == "", "http.bearerTokenFile", "cannot be together with basicAuth: there is one Authorization header")
	}
	tell.unless((h.ClientCertFile == "") == (h.ClientKeyFile == ""), "http.clientCertFile", "and clientKeyFile belong together")
	if h.Proxy != "" {
		p, err := url.Parse(h.Proxy)
		tell.unless(err == nil && slices.Contains([]string{"http", "https", "socks5"}, p.Scheme) && p.Host != "", "http.proxy", "must be like http://host:3128")
	}
	tell.unless(h.Timeout >= 0, "http.timeout", "must not be below 0")
	tell.unless(h.IdleTimeout >= 0, "http.idleTimeout", "must not be below 0")
	tell.unless(h.MaxBodySize >= 0, "http.maxBodySize", "must not be below 0")
}

func (g Git) check(tell complain) {
	tell.unless(gitURL(g.URL), "git.url", "must be like https://host/path, ssh://user@host/path, user@host:path, file:///path or /path, without a password in it")
	tell.unless(g.PasswordFile == "" || g.Username != "" || !strings.HasPrefix(g.URL, "http:"), "git.passwordFile", "is not sent in the clear: the URL must be https")
	tell.unless(g.SSHKeyPassphraseFile == "" || g.SSHKeyFile != "", "git.sshKeyPassphraseFile", "is for sshKeyFile, which is missing")
	tell.unless(g.Timeout >= 0, "git.timeout", "must not be below 0")
	tell.unless(g.MaxPackSize >= 0, "git.maxPackSize", "must not be below 0")
}

// gitURL accepts the forms that git has, but none that holds a password.
func gitURL(text string) bool {
	u, err := url.Parse(text)
	if err == nil && u.Scheme != "" && strings.Contains(text, "://") {
		_, password := u.User.Password()
		switch u.Scheme {
		case "file":
			return filepath.IsAbs(u.Path)
		case "https", "http", "ssh":
			return u.Host != "" && !password
		}
		return false
	}
	host, path, ok := strings.Cut(text, ":") // user@host:path
	return filepath.IsAbs(text) || ok && host != "" && path != "" && !strings.Contains(host, "/")
}

// defaultWebhookPath is what is answered when nothing else is said.
const defaultWebhookPath = "/"

// check tells every fault of the webhook.
func (w Webhook) check(tell complain) {
	_, port, err := net.SplitHostPort(w.Address)
	tell.unless(err == nil && port != "", "webhook.address", "must be like 127.0.0.1:9443 or :9443, is %q", w.Address)
	tell.unless(w.SecretFile != "" || w.TokenFile != "", "webhook.secretFile", "is missing: without a secret there is no webhook (tokenFile would do for generic pushes)")
	tell.unless((w.TLSCertFile == "") == (w.TLSKeyFile == ""), "webhook.tlsCertFile", "and tlsKeyFile belong together")
	tell.unless(strings.HasPrefix(w.Path, "/"), "webhook.path", "must begin with a /, is %q", w.Path)
}

// isShare reports whether text is a percentage.
func isShare(text string) bool {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	return err == nil && strings.HasSuffix(text, "%") && n >= 0 && n <= 100
}

// isToken reports whether text can name a header.
func isToken(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) < 0
}
