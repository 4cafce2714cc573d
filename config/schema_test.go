package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// Where the schema is: in the program, and for editors.
const (
	builtIn   = "configuration.schema.json"
	published = "../docs/configuration.schema.json"
)

// What the decoder's parsers and checks take, as patterns.
const (
	durations   = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`
	sizes       = `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$`
	labels      = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	shares      = `^\+?0*([0-9]|[1-9][0-9]|100)%$`
	headerNames = "^[!#$%&'*+.^_\x60|~0-9A-Za-z-]+$"
	oneLine     = `^[^\r\n\x00]*$`
	httpURLs    = `^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\s]+`
	gitURLs     = `^((https?|ssh)://([^@/:\s]*@)?[^@/\s]+(/|$)|file:///|/|[^/:\s]+:(/?[^/\s]|/$))`
	proxies     = `^(https?|socks5)://[^/?#\s]+`
	addresses   = `^(\[[^\]]*\]|[^:\[\]]*):[^:]+$`
)

// TestTheSchemaIsTrue compares the schema with the types.
func TestTheSchemaIsTrue(t *testing.T) {
	made := makeSchema(t)
	for _, path := range []string{builtIn, published} {
		if updating() {
			if err := os.WriteFile(path, made, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, made) {
			t.Errorf("%s is out of date (%v); go test ./config -run Schema -update", path, err)
		}
	}
}

// makeSchema makes it from Document, its comments and what its checks ask for.
func makeSchema(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{Mapper: scalars, RequiredFromJSONSchemaTags: true, ExpandedStruct: true}
	if err := r.AddGoComments("github.com/podstead/podstead/config", "."); err != nil {
		t.Fatal(err)
	}
	s := r.Reflect(&Document{})
	s.ID = "https://raw.githubusercontent.com/podstead/podstead/main/docs/configuration.schema.json"
	s.Title, s.Description = "Configuration of podstead/v1alpha1", "What podstead can be told beyond a KubeletConfiguration."
	field(s, "apiVersion").Const, field(s, "kind").Const = DocumentVersion, DocumentKind
	s.Required = []string{"apiVersion", "kind"}
	demandOfSources(s.Definitions["Source"])
	demandOfHTTP(s.Definitions["HTTP"])
	demandOfGit(s.Definitions["Git"])
	demandOfWebhook(s.Definitions["Webhook"])
	s.Definitions["File"].Required = []string{"path"}
	s.Definitions["BasicAuth"].Required = []string{"username", "passwordFile"}
	for _, of := range []struct {
		name string
		t    reflect.Type
	}{{"", reflect.TypeFor[Document]()}, {"Source", reflect.TypeFor[Source]()}, {"File", reflect.TypeFor[File]()}, {"HTTP", reflect.TypeFor[HTTP]()},
		{"BasicAuth", reflect.TypeFor[BasicAuth]()}, {"Git", reflect.TypeFor[Git]()}, {"Webhook", reflect.TypeFor[Webhook]()}} {
		at := s
		if of.name != "" {
			at = s.Definitions[of.name]
		}
		describe(t, at, of.t)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func field(s *jsonschema.Schema, name string) *jsonschema.Schema {
	f, _ := s.Properties.Get(name)
	return f
}

// scalars are the types that are written as one value.
func scalars(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Duration]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: durations}, {Const: 0}}}
	case reflect.TypeFor[Size]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: sizes}, {Type: "number", Minimum: "0"}}}
	case reflect.TypeFor[Headers]():
		line := &jsonschema.Schema{Type: "string", Pattern: oneLine}
		return &jsonschema.Schema{
			Type: "object", PropertyNames: &jsonschema.Schema{Pattern: headerNames},
			AdditionalProperties: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{line, {Type: "array", Items: line}}},
		}
	}
	return nil
}

// describe puts the comments into words: fields are called as in the file.
func describe(t *testing.T, s *jsonschema.Schema, of reflect.Type) {
	for f := range of.Fields() {
		name := f.Tag.Get("json")
		p := field(s, name)
		if p.Description == "" {
			t.Errorf("%s.%s has no comment", of.Name(), f.Name)
		}
		text := strings.ReplaceAll(p.Description, "\n", " ")
		for other := range of.Fields() {
			text = regexp.MustCompile(`\b`+other.Name+`\b`).ReplaceAllString(text, other.Tag.Get("json"))
		}
		p.Description = strings.Replace(text, "uRL ", "URL ", 1)
	}
	s.Description = strings.ReplaceAll(s.Description, "\n", " ")
}

func demandOfSources(s *jsonschema.Schema) {
	name := field(s, "name")
	longest := uint64(63)
	name.Pattern, name.MaxLength = labels, &longest
	s.Required = []string{"name"}
	field(s, "policy").Enum = []any{"privileged", "edge", "baseline", "restricted"}
	field(s, "unsupportedKinds").Enum = []any{"warn", "strict"}
	field(s, "validation").Enum = []any{"strict", "warn"}
	field(s, "maxRemoval").Pattern = shares
	field(s, "objectsFrom").UniqueItems = true
	file := jsonschema.NewProperties()
	file.Set("maxRemoval", jsonschema.FalseSchema)
	s.OneOf = []*jsonschema.Schema{{Required: []string{"file"}, Properties: file}, {Required: []string{"http"}}, {Required: []string{"git"}}}
}

func demandOfHTTP(s *jsonschema.Schema) {
	s.Required = []string{"url"}
	field(s, "url").Pattern = httpURLs
	field(s, "proxy").Pattern = proxies
	s.DependentRequired = map[string][]string{"clientCertFile": {"clientKeyFile"}, "clientKeyFile": {"clientCertFile"}}
	s.Not = &jsonschema.Schema{Required: []string{"basicAuth", "bearerTokenFile"}}
}

func demandOfGit(s *jsonschema.Schema) {
	s.Required = []string{"url"}
	field(s, "url").Pattern = gitURLs
	s.DependentRequired = map[string][]string{"sshKeyPassphraseFile": {"sshKeyFile"}}
}

func demandOfWebhook(s *jsonschema.Schema) {
	s.Required = []string{"address"}
	field(s, "address").Pattern = addresses
	field(s, "path").Pattern = "^/"
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"secretFile"}}, {Required: []string{"tokenFile"}}}
	s.DependentRequired = map[string][]string{"tlsCertFile": {"tlsKeyFile"}, "tlsKeyFile": {"tlsCertFile"}}
}

// compiled is the schema as editors use it.
func compiled(t *testing.T) *validator.Schema {
	t.Helper()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	c.DefaultDraft(validator.Draft2020)
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// accepts is what the schema says of a document.
func accepts(t *testing.T, s *validator.Schema, text string) error {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	value, err := validator.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// What the schema says and what a start says is the same.
func TestSchemaAndDecoderAgree(t *testing.T) {
	s := compiled(t)
	source := func(text string) string { return "sources: [{name: a, " + text + "}]" }
	http := func(text string) string { return source("http: {url: 'https://h/p', " + text + "}") }
	git := func(text string) string { return source("git: {url: 'https://h/p', " + text + "}") }
	hook := func(text string) string { return "webhook: {address: ':1', secretFile: /s, " + text + "}" }
	good := []string{
		"sources: []", source("file: {path: /m}"), source("file: {path: /m}, policy: baseline, validation: warn, unsupportedKinds: strict, allowNodeControl: true"),
		source("file: {path: /m}, interval: 30s"), source("file: {path: /m}, interval: 1h30m"), source("file: {path: /m}, interval: 0"), source("file: {path: /m}, interval: .5s"),
		http(""), http("timeout: 5s, idleTimeout: 1.5s, maxBodySize: 1Mi"), http("maxBodySize: 1000"), http("maxBodySize: 1e6"), http("maxBodySize: '7'"),
		http("headers: {A: b, C: [d, e], E: []}"), http("basicAuth: {username: u, passwordFile: /p}"), http("bearerTokenFile: /t"),
		http("clientCertFile: /c, clientKeyFile: /k, caFile: /a, proxy: 'socks5://p:1'"), source("http: {url: 'HTTP://h?x=y'}, maxRemoval: 50%"),
		git(""), git("ref: main, paths: [a, b], include: ['*.yaml'], exclude: [], username: u, passwordFile: /p, maxPackSize: 64Mi, timeout: 1m"),
		git("sshKeyFile: /k, sshKeyPassphraseFile: /p, knownHostsFile: /h"), source("git: {url: 'git@h:o/r.git'}, maxRemoval: 100%"), source("git: {url: /srv/r}"), source("git: {url: 'file:///srv/r'}"),
		source("git: {url: 'ssh://git@h:22/r'}, maxRemoval: 0%"), hook(""), hook("path: /x, tokenFile: /t, tlsCertFile: /c, tlsKeyFile: /k"), "webhook: {address: '[::1]:80', tokenFile: /t}",
		"sources: [{name: a, file: {path: /a}}, {name: b, objectsFrom: [a], file: {path: /b}}]",
	}
	bad := []string{
		"sorces: []", "sources: {}", "sources: [text]", "sources: [{file: {path: /m}}]", source("file: {}"), source("file: {path: 7}"), source("file: {path: /m}, File: {path: /m}"),
		source("policy: edge"), source("file: {path: /m}, http: {url: 'http://h'}"), source("file: {path: /m}, maxRemoval: 50%"), source("file: {path: /m}, policy: root"),
		source("file: {path: /m}, validation: lax"), source("file: {path: /m}, unsupportedKinds: x"), source("file: {path: /m}, allowNodeControl: 'no'"), source("file: {path: /m}, objectsFrom: x"),
		"sources: [{name: Bad_Name, file: {path: /m}}]", "sources: [{name: 7, file: {path: /m}}]", "sources: [{name: " + strings.Repeat("a", 64) + ", file: {path: /m}}]",
		source("file: {path: /m}, interval: soon"), source("file: {path: /m}, interval: -5s"), source("file: {path: /m}, interval: 30"), source("file: {path: /m}, interval: 5 minutes"),
		source("git: {url: h:r}, maxRemoval: 101%"), source("git: {url: h:r}, maxRemoval: half"), source("git: {url: h:r}, maxRemoval: 50"),
		source("http: {}"), source("http: {url: 'ftp://h'}"), source("http: {url: 'http:///p'}"), http("uri: x"), http("timeout: -1s"), http("maxBodySize: much"), http("maxBodySize: -1"), http("maxBodySize: -1Mi"),
		http("headers: {'bad name': x}"), http("headers: {A: 1}"), http("headers: {A: [1]}"), http("headers: [x]"), http(`headers: {A: "x\ny"}`), http(`headers: {A: {b: c}}`),
		http("basicAuth: {}"), http("basicAuth: {username: u}"), http("basicAuth: {username: u, passwordFile: /p}, bearerTokenFile: /t"), http("clientCertFile: /c"), http("clientKeyFile: /k"), http("proxy: 'ftp://p'"),
		source("git: {}"), source("git: {url: 'https://u:p@h/r'}"), source("git: {url: 'ftp://h/r'}"), source("git: {url: r}"), git("sshKeyPassphraseFile: /p"), git("ref: 1234567"), git("paths: x"), git("paths: [1]"), git("rev: x"),
		"webhook: {}", "webhook: {address: ':1'}", "webhook: {address: here, secretFile: /s}", "webhook: {address: ':', secretFile: /s}", hook("path: x"), hook("tlsCertFile: /c"), hook("addr: x"),
	}
	for _, list := range []struct {
		texts []string
		good  bool
	}{{good, true}, {bad, false}} {
		for _, text := range list.texts {
			_, err := loadDocument(t, "", text+"\n")
			bySchema := accepts(t, s, documentHeader+text+"\n")
			if (err == nil) != list.good || (bySchema == nil) != list.good {
				t.Errorf("%s\nstart: %v\nschema: %v", text, err, bySchema)
			}
		}
	}
}

// Every configuration that podstead shows to people passes.
func TestTheSchemaAcceptsAllExamples(t *testing.T) {
	s, found := compiled(t), 0
	var texts []string
	for _, pattern := range []string{"../docs/*.md", "../README.md", "../examples/*.md", "../examples/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
				texts = append(texts, m[1])
			}
		}
	}
	for _, pattern := range []string{"../examples/*.yaml", "../examples/*/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(data))
		}
	}
	for _, text := range texts {
		for _, part := range splitDocuments([]byte(text)) {
			if !strings.Contains(string(part.text), "kind: Configuration\n") {
				continue
			}
			found++
			if err := accepts(t, s, string(part.text)); err != nil {
				t.Errorf("%s\n%v", part.text, err)
			}
		}
	}
	if found == 0 {
		t.Error("there is no example")
	}
}
