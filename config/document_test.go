package config

import (
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const documentHeader = "apiVersion: podstead/v1alpha1\nkind: Configuration\n"

// loadDocument loads a file that holds a Configuration, and what is before it.
func loadDocument(t *testing.T, before, document string, args ...string) (Config, error) {
	t.Helper()
	path := write(t, t.TempDir(), "c.yaml", before+documentHeader+document)
	c, _, err := Loader{Flags: parseRun(t, append(args, "--config", path)...), Etc: t.TempDir()}.Load()
	if err != nil {
		err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), path, "c.yaml"))
	}
	return c, err
}

func TestEverySettingOfTheDocumentArrives(t *testing.T) {
	got, err := loadDocument(t, header+"maxPods: 7\n---\n", `sources:
- name: usb
  file: {path: /media/usb}
  policy: baseline
  validation: warn
- name: page
  interval: 30s
  unsupportedKinds: strict
  maxRemoval: 80%
  objectsFrom: [usb, fleet]
  http:
    url: https://h/p?token=q
    headers: {X-One: a, X-Two: [b, c]}
    caFile: /ca
    basicAuth: {username: me, passwordFile: /pw}
    clientCertFile: /crt
    clientKeyFile: /key
    proxy: http://proxy:3128
    timeout: 5s
    idleTimeout: 1s
    maxBodySize: 1Mi
- name: fleet
  allowNodeControl: true
  git:
    url: ssh://bot@h/r.git
    ref: "1234567"
    paths: [shared, nodes/$(NODE_NAME)]
    include: ["*.yaml"]
    exclude: [old/**]
    username: bot
    sshKeyFile: /k
    sshKeyPassphraseFile: /kp
    knownHostsFile: /kh
    timeout: 1m
    maxPackSize: 64Mi
webhook: {address: ":0", secretFile: /s, tokenFile: /t, path: /hook, tlsCertFile: /c, tlsKeyFile: /k}
`)
	if err != nil {
		t.Fatal(err)
	}
	if got.MaxPods != 7 || len(got.Listed) != 3 {
		t.Fatalf("maxPods %d, %d sources", got.MaxPods, len(got.Listed))
	}
	want := []Source{
		{Name: "usb", Policy: "baseline", Validation: "warn", File: &File{Path: "/media/usb"}},
		{Name: "page", Interval: Duration(30 * time.Second), UnsupportedKinds: "strict", MaxRemoval: "80%", ObjectsFrom: []string{"usb", "fleet"}, HTTP: &HTTP{
			URL: "https://h/p?token=q", Headers: Headers{"X-One": {"a"}, "X-Two": {"b", "c"}}, CAFile: "/ca",
			BasicAuth: &BasicAuth{Username: "me", PasswordFile: "/pw"}, ClientCertFile: "/crt", ClientKeyFile: "/key",
			Proxy: "http://proxy:3128", Timeout: Duration(5 * time.Second), IdleTimeout: Duration(time.Second), MaxBodySize: 1 << 20}},
		{Name: "fleet", AllowNodeControl: true, Git: &Git{URL: "ssh://bot@h/r.git", Ref: "1234567", Paths: []string{"shared", "nodes/$(NODE_NAME)"},
			Include: []string{"*.yaml"}, Exclude: []string{"old/**"}, Username: "bot", SSHKeyFile: "/k", SSHKeyPassphraseFile: "/kp",
			KnownHostsFile: "/kh", Timeout: Duration(time.Minute), MaxPackSize: 64 << 20}},
	}
	for i := range want {
		if !reflect.DeepEqual(got.Listed[i], want[i]) {
			t.Errorf("got  %#v\nwant %#v", got.Listed[i], want[i])
		}
	}
	if w := (Webhook{Address: ":0", SecretFile: "/s", TokenFile: "/t", Path: "/hook", TLSCertFile: "/c", TLSKeyFile: "/k"}); *got.Webhook != w {
		t.Errorf("webhook %+v", *got.Webhook)
	}
	if text := fmt.Sprint(got.Describe()...); strings.Contains(text, "token=q") || !strings.Contains(text, "page=https://h/p") {
		t.Errorf("described as %s", text)
	}
}

func TestTheOrderOfSources(t *testing.T) {
	got, err := loadDocument(t, header+"staticPodPath: /k\nstaticPodURL: http://k/\n---\n", "sources: [{name: last, file: {path: /l}}]\n",
		"--pod-manifest-path=/a", "--pod-manifest-path=/b", "--git-url=https://h/r")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, s := range got.Sources() {
		order = append(order, s.Name+"="+s.Place())
	}
	if text := strings.Join(order, " "); text != "file=/a file-2=/b http=http://k/ git=https://h/r last=/l" {
		t.Error(text)
	}
}

func TestEveryFaultOfTheDocumentIsToldWithItsPlace(t *testing.T) {
	cases := []struct {
		name string
		text string // below the two lines of the header
		want []string
	}{
		{"unknown keys at every level", "sorces: []\nsources:\n- name: a\n  File: {}\n  http: {url: http://h, uri: x}\nwebhook: {addr: x}\n", []string{
			"c.yaml:3:1: sorces: unknown field", "c.yaml:6:3: sources[0].File: unknown field; did you mean file?",
			"c.yaml:7:25: sources[0].http.uri: unknown field", "c.yaml:8:11: webhook.addr: unknown field",
			"c.yaml:8:1: webhook.address: must be like", "c.yaml:8:1: webhook.secretFile: is missing"}},
		{"wrong types", "sources:\n- name: 7\n  file: [a]\n  interval: soon\n  allowNodeControl: yes please\n  objectsFrom: a\n- text\n", []string{
			"c.yaml:4:9: sources[0].name: must be text: put it in quotes", "c.yaml:5:9: sources[0].file: must be an object",
			`c.yaml:6:13: sources[0].interval: must be a duration like 30s or 5m, is "soon"`, "c.yaml:7:21: sources[0].allowNodeControl: must be true or false",
			"c.yaml:8:16: sources[0].objectsFrom: must be a list", "c.yaml:9:3: sources[1]: must be an object"}},
		{"values", "sources:\n- {name: Bad_Name, policy: root, validation: lax, unsupportedKinds: x, maxRemoval: half, objectsFrom: [none, Bad_Name, none], file: {path: /a}}\n- {file: {}, git: {url: 'https://u:p@h/r'}}\n- {name: c}\n", []string{
			`sources[0].name: "Bad_Name" cannot name a source`, `c.yaml:4:20: sources[0].policy: must be one of privileged, edge, baseline, restricted, is "root"`,
			"sources[0].validation", "sources[0].unsupportedKinds", "sources[0].maxRemoval: must be from 0% to 100%", `c.yaml:4:104: sources[0].objectsFrom[0]: there is no source "none"`,
			"sources[0].objectsFrom[1]: names the source itself", "sources[0].objectsFrom[2]: \"none\" is named twice", "c.yaml:5:3: sources[1].name: is missing",
			"sources[1].file.path: is missing", "sources[1].git.url: must be like", "sources[1]: must have exactly one of file, http and git, has 2",
			"c.yaml:6:3: sources[2]: must have exactly one of file, http and git, has 0"}},
		{"a name twice", "sources: [{name: a, file: {path: /a}}, {name: a, file: {path: /b}}]\n", []string{`sources[1].name: "a" is taken`}},
		{"a key twice", "sources: []\nsources: []\n", []string{"c.yaml:4:1: sources: is written twice"}},
		{"halves of pairs", "sources: [{name: a, http: {url: 'https://h', clientKeyFile: /k, basicAuth: {}, bearerTokenFile: /t}}, {name: b, git: {url: h:r, sshKeyPassphraseFile: /p}}]\nwebhook: {address: ':1', secretFile: /s, tlsKeyFile: /k, path: x}\n", []string{
			"sources[0].http.clientCertFile", "sources[0].http.basicAuth.username: is missing", "sources[0].http.basicAuth.passwordFile: is missing",
			"sources[0].http.bearerTokenFile", "sources[1].git.sshKeyPassphraseFile", "c.yaml:4:1: webhook.tlsCertFile", "webhook.path: must begin with"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadDocument(t, "", c.text)
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("not told: %s", part)
				}
			}
			if t.Failed() {
				t.Log(err)
			}
		})
	}
}

func TestNoFaultTellsASecret(t *testing.T) {
	_, err := loadDocument(t, "", "sources: [{name: a, http: {url: 'https://me:s3cr3t@h', headers: {'bad name': s3cr3t, X: {s3cr3t: 1}, Y: [{a: s3cr3t}], Z: \"s3cr3t\\n\"}}}]\n")
	if err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Error(err)
	}
}

func TestANameOfAFlagsSourceIsTaken(t *testing.T) {
	_, err := loadDocument(t, "", "sources: [{name: file, file: {path: /b}}]\n", "--pod-manifest-path=/a")
	if err == nil || !strings.Contains(err.Error(), `c.yaml:3:12: sources[0].name: "file" is taken`) {
		t.Error(err)
	}
}

// fieldPaths are the paths of all fields of a type, as the documentation names them.
func fieldPaths(t reflect.Type, prefix string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var all []string
	for f := range t.Fields() {
		name := join(prefix, f.Tag.Get("json"))
		all = append(all, name)
		kind := f.Type
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
			if kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct {
				name += "[]"
			}
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Struct {
			all = append(all, fieldPaths(kind, name)...)
		}
	}
	return all
}

// The page on the configuration has a row for each field, and none for others.
func TestEveryFieldIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Configuration\n")
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-zA-Z.\\[\\]]+)` \\| [^|]+\\|[^|]*\\|$").FindAllStringSubmatch(section, -1) {
		rows = append(rows, m[1])
	}
	fields := fieldPaths(reflect.TypeFor[Document](), "")
	for _, f := range fields {
		if !slices.Contains(rows, f) {
			t.Errorf("%s has no row", f)
		}
	}
	for _, r := range rows {
		if !slices.Contains(fields, r) {
			t.Errorf("%s has a row and is no field", r)
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	spec := Source{Name: "a", HTTP: &HTTP{URL: "https://h", Headers: Headers{"A": {"s3cr3t"}}}}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "headers", spec.HTTP.Headers)
	for _, text := range []string{fmt.Sprint(spec.HTTP.Headers), fmt.Sprintf("%+v %#v", *spec.HTTP, *spec.HTTP), log.String()} {
		if strings.Contains(text, "s3cr3t") {
			t.Errorf("printed: %s", text)
		}
	}
}
