package gitrepo

import (
	"net/http"
	"sync/atomic"
	"testing"
)

// Over a line that is paid for by the byte, a commit that is too large must not
// be fetched at each look only to be thrown away.
func TestCommitThatIsTooLargeIsNotFetchedAtEachLook(t *testing.T) {
	for _, c := range []struct {
		name   string
		filter string
		file   string
	}{
		{name: "out of scope", filter: "false", file: "big.txt"},
		{name: "in scope, fetched by its name", filter: "true", file: "big.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newForge(t)
			f.server("config", "uploadpack.allowFilter", c.filter)
			f.write("a.yaml", "1")
			f.push("first")
			h := f.serve()
			r := newRepo(t, h.url(), func(cfg *Config) {
				cfg.Limits = DefaultLimits()
				cfg.Limits.Pack = 100 << 10
			})
			mustLook(t, r, "main", everything())
			f.write(c.file, noise(200<<10, 0))
			large := f.push("second")
			var asked atomic.Int32
			onFetch(h, func(http.ResponseWriter, *http.Request, string) bool { asked.Add(1); return false })
			perLook := int32(1)
			if c.filter == "true" {
				perLook = 2 // the folders come first
			}
			_, err := look(t, r, "main", everything())
			wantError(t, err, "read commit "+large[:12], "exceeds the limit of 102400 bytes for what is fetched at once, which is maxPackSize")
			if n := asked.Swap(0); n != perLook {
				t.Errorf("fetched %d times at the first look", n)
			}
			wantSame(t, r, err)
			if n := asked.Swap(0); n != 0 {
				t.Errorf("fetched %d times at the second look", n)
			}
			r.over.at = r.over.at.Add(-excessRest)
			wantSame(t, r, err)
			if n := asked.Swap(0); n != 1 {
				t.Errorf("fetched %d times an hour later", n)
			}
			f.in("rm", "-q", c.file)
			f.push("third")
			if got := mustLook(t, r, "main", everything()); texts(got)["a.yaml"] != "1" {
				t.Errorf("read %v", texts(got))
			}
		})
	}
}
