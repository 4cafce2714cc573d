package gitrepo

import (
	"strings"
	"testing"
)

func TestURLs(t *testing.T) {
	for _, c := range []struct {
		url, shown, user string
		want             string // of the error
	}{
		{url: "https://git.example/team/fleet.git", shown: "https://git.example/team/fleet.git"},
		{url: "https://org@dev.example/x/_git/y", shown: "https://dev.example/x/_git/y", user: "org"},
		{url: "https://git.example:8443/a%20b.git", shown: "https://git.example:8443/a%20b.git"},
		{url: "ssh://git@git.example:2222/team/fleet.git", shown: "ssh://git.example:2222/team/fleet.git", user: "git"},
		{url: "ssh://git.example/~ada/fleet", shown: "ssh://git.example/~ada/fleet"},
		{url: "git@git.example:team/fleet.git", shown: "git.example:team/fleet.git", user: "git"},
		{url: "git@[::1]:fleet.git", shown: "[::1]:fleet.git", user: "git"},
		{url: "file:///srv/git/fleet.git", shown: "file:///srv/git/fleet.git"},
		{url: "/srv/git/../fleet.git", shown: "file:///srv/fleet.git"},
		{url: "", want: "a URL is needed"},
		{url: "https://ada:s3cret@git.example/fleet.git", want: "put it into passwordFile"},
		{url: "ada:s3cret@git.example:fleet.git", want: "put it into passwordFile"},
		{url: "https://ada:s3cret%zz@git.example/fleet.git", want: "can't be parsed"},
		{url: "https://git.example/fleet.git?token=s3cret", want: "no query"},
		{url: "https://git.example", want: "has no path"},
		{url: "https:///fleet.git", want: "has no host"},
		{url: "git://git.example/fleet.git", want: `scheme "git" is none of`},
		{url: "ext::sh -c s3cret", want: "spaces or control"},
		{url: "ssh://-oProxyCommand=x/fleet", want: "begins with a dash"},
		{url: "git@git.example:-x", want: "begins with a dash"},
		{url: "../fleet.git", want: "neither a URL"},
		{url: "fleet", want: "neither a URL"},
		{url: "file://git.example/fleet.git", want: `names the host "git.example"`},
	} {
		at, err := parseURL(c.url)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v lacks %q", c.url, err, c.want)
		case err != nil && strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: the error shows a secret: %v", c.url, err)
		case c.want == "" && (err != nil || at.shown != c.shown || at.user != c.user):
			t.Errorf("%s: is %+v, %v", c.url, at, err)
		}
	}
}

func TestConfigurationNamesAllThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want []string
	}{
		{"everything", Config{URL: "http://git.example/r.git", PasswordFile: "/p", KeyFile: "/k", IdleTimeout: -1},
			[]string{"credentials are not sent over http", "sshKeyFile is for ssh", "idle time-out", "a folder for what is fetched"}},
		{"ssh without a key", Config{URL: "git@git.example:r.git", Dir: "/d"}, []string{"sshKeyFile is needed"}},
		{"https only", Config{URL: "/r.git", Dir: "/d", CAFile: "/c", Username: "ada"}, []string{"caFile is for https", "username is for https and ssh"}},
		{"two users", Config{URL: "https://ada@git.example/r.git", Username: "bob", Dir: "/d"}, []string{"names another user"}},
	} {
		_, err := New(c.cfg)
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		wantError(t, err, c.want...)
	}
	if _, err := New(Config{URL: "http://127.0.0.1:3000/r.git", Dir: "/d", PasswordFile: "/p"}); err != nil {
		t.Errorf("a server on this machine gets credentials: %v", err)
	}
}

func TestRefNames(t *testing.T) {
	for _, name := range []string{"", "main", "feature/x", "v1.2", "refs/pull/7/head", "0123456789abcdef0123456789abcdef01234567"} {
		if err := CheckRef(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"a b", "a..b", "-x", "a^", "a~1", "a:b", "x.lock", "/a", "a/", "a//b", "a@{1}", "a\n", "a*", "a."} {
		if CheckRef(name) == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.yaml", "a.yaml", true},
		{"*.yaml", "deep/er/a.yaml", true},
		{"/x", "x", false},
		{"deep/*.yaml", "deep/a.yaml", true},
		{"deep/*.yaml", "deep/er/a.yaml", false},
		{"deep/*.yaml", "very/deep/a.yaml", false},
		{"**/deep/*.yaml", "very/deep/a.yaml", true},
		{"**/deep/*.yaml", "deep/a.yaml", true},
		{"deep/**", "deep/er/a.yaml", true},
		{"deep/**", "deep", true},
		{"deep/**/a.yaml", "deep/a.yaml", true},
		{"deep/**/a.yaml", "deep/1/2/3/a.yaml", true},
		{"deep/**/a.yaml", "deep/1/2/3/b.yaml", false},
		{"**", "any/thing", true},
		{"a/**/b/**/c", "a/x/b/y/z/c", true},
		{"a/**/b/**/c", "a/x/y/z/c", false},
		{"[ab].yaml", "b.yaml", true},
		{"test", "x/test", true},
		{"test", "testing", false},
	} {
		if matches(c.pattern, c.name) != c.want {
			t.Errorf("%s and %s: not %v", c.pattern, c.name, c.want)
		}
	}
	long := strings.Repeat("**/", 200) + "x"
	if matches(long, strings.Repeat("a/", 400)+"b") {
		t.Error("matches what it must not")
	}
	for _, bad := range []string{"", "/a", "a/[", "[z-a"} {
		if CheckGlob(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestTrailer(t *testing.T) {
	for _, c := range []struct {
		name, message string
		want          bool
	}{
		{"alone beneath the subject", "remove it\n\nPodstead-Allow-Removal: yes\n", true},
		{"among others", "remove it\n\nbody\n\nSigned-off-by: Ada <a@b>\nPodstead-Allow-Removal: yes\n", true},
		{"any case, CRLF, space", "remove it\r\n\r\npodstead-allow-removal:  YES \r\n", true},
		{"a long trailer", "x\n\nNote: one\n  two\nPodstead-Allow-Removal: yes\n(cherry picked from commit 0)", true},
		{"no", "x\n\nPodstead-Allow-Removal: no\n", false},
		{"taken back", "x\n\nPodstead-Allow-Removal: yes\nPodstead-Allow-Removal: no\n", false},
		{"in the subject", "Podstead-Allow-Removal: yes", false},
		{"in the body", "x\n\nPodstead-Allow-Removal: yes\n\nmore\n", false},
		{"quoted in a paragraph", "x\n\nadd the line\nPodstead-Allow-Removal: yes\n", false},
		{"nothing", "", false},
	} {
		if allowsRemoval(c.message) != c.want {
			t.Errorf("%s: not %v", c.name, c.want)
		}
	}
}
