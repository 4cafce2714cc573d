package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	cases := []struct {
		name   string
		events string
		want   []string
		absent []string
		ok     bool
	}{
		{
			name: "a passing package shows its closing line only",
			events: `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}`,
			want:   []string{"ok  \tp\t0.1s\n", "1 passed, 0 failed, 0 skipped"},
			absent: []string{"chatter", "PASS", "Skipped"},
			ok:     true,
		},
		{
			name: "a failing test is shown whole",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: wrong\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}`,
			want: []string{"a_test.go:3: wrong", "FAIL\tp\t0.1s", "0 passed, 1 failed, 0 skipped"},
		},
		{
			name: "a skip is listed with its reason",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: no compiler of\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"        the recorded version\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}`,
			want: []string{"Skipped:\n  p TestA: no compiler of the recorded version\n", "1 passed, 0 failed, 1 skipped"},
			ok:   true,
		},
		{
			name: "a package that does not build fails the run",
			events: `{"ImportPath":"p","Action":"build-output","Output":"p/a.go:1:1: expected package\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
{"Action":"pass","Package":"q","Test":"TestB"}`,
			want: []string{"expected package", "FAIL\tp [build failed]", "1 passed, 1 failed"},
		},
		{
			name:   "nothing run is a failure",
			events: `{"Action":"skip","Package":"p"}`,
			want:   []string{"0 passed, 0 failed, 0 skipped"},
		},
		{
			name:   "what is no event is passed on",
			events: "go: warning: something\n" + `{"Action":"pass","Package":"p","Test":"TestA"}`,
			want:   []string{"go: warning: something\n"},
			ok:     true,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out)
			if err := r.read(strings.NewReader(c.events)); err != nil {
				t.Fatal(err)
			}
			if ok := r.close(); ok != c.ok {
				t.Errorf("ok = %t, want %t", ok, c.ok)
			}
			for _, w := range c.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("%q is missing in:\n%s", w, out.String())
				}
			}
			for _, w := range c.absent {
				if strings.Contains(out.String(), w) {
					t.Errorf("%q is there in:\n%s", w, out.String())
				}
			}
		})
	}
}
