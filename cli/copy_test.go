package cli

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestPathsOfACopyAreKubectls(t *testing.T) {
	cases := []struct {
		text string
		want spec
		err  string
	}{
		{text: "web:/etc/hosts", want: spec{pod: "web", namespace: "default", path: "/etc/hosts"}},
		{text: "web:rel/a", want: spec{pod: "web", namespace: "default", path: "rel/a"}},
		{text: "data/web:/etc", want: spec{pod: "web", namespace: "data", path: "/etc"}},
		{text: "web:a:b", want: spec{pod: "web", namespace: "default", path: "a:b"}},
		{text: "file", want: spec{path: "file"}},
		{text: "./a:b", want: spec{path: "./a:b"}},
		{text: "/a:b", want: spec{path: "/a:b"}},
		{text: "../a:b", want: spec{path: "../a:b"}},
		{text: "-", want: spec{path: "-"}},
		{text: "", err: "may not be empty"},
		{text: "web:", err: "the root is web:/"},
		{text: ":/a", err: "want POD:PATH"},
		{text: "/web:/a", want: spec{path: "/web:/a"}},
		{text: "a/b/c:/d", err: "want POD:PATH"},
		{text: "data/:/a", err: "want POD:PATH"},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			got, err := parseSpec(c.text, "default")
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestTheNameThatACopyGets(t *testing.T) {
	for name, want := range map[string]string{
		"/a/b": "b", "/a/b/": "b", "b": "b", "/": "", ".": "", "..": "", "/a/.": "", "a/..": "", "./": "",
	} {
		if got := lastPart(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestPortsAreKubectls(t *testing.T) {
	pod := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Ports: []v1.ContainerPort{{Name: "http", ContainerPort: 8080}, {ContainerPort: 9}}}}}}
	pod.Name = "web-n1"
	cases := []struct {
		text string
		want forwardedPort
		err  string
	}{
		{text: "80", want: forwardedPort{80, 80}},
		{text: "8080:80", want: forwardedPort{8080, 80}},
		{text: ":80", want: forwardedPort{0, 80}},
		{text: "0:80", want: forwardedPort{0, 80}},
		{text: "http", want: forwardedPort{8080, 8080}},
		{text: "80:http", want: forwardedPort{80, 8080}},
		{text: "", err: `"" is no port`},
		{text: "80:", err: `"" is no port`},
		{text: "0", err: "from 1 to 65535, or a name of pod web-n1: http"},
		{text: "https", err: "http"},
		{text: "1:2:3", err: "is no port"},
		{text: "65536:80", err: "from 0 to 65535"},
		{text: "-1:80", err: "from 0 to 65535"},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			got, err := parsePort(pod, c.text)
			if err == nil && got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	if _, err := parsePorts(pod, []string{"x", "80", "y"}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("not every fault is told: %v", err)
	}
}
