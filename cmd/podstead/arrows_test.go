package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/podstead/podstead/"

// arrows says which of our packages each of our packages may import. A package
// that is not named here may not exist; everything is a stop on the one way
// source → merger → loop → worker → engine, or hangs on it.
func arrows() map[string][]string {
	return map[string][]string{
		"durable":             {},
		"manifests":           {},
		"sources":             {"manifests", "durable", "sources/gitrepo"},
		"sources/gitrepo":     {},
		"sources/webhook":     {},
		"runtime":             {},
		"runtime/docker":      {"runtime"},
		"runtime/runtimetest": {"runtime"},
		"agent": {"sources", "manifests", "runtime", "durable",
			"agent/plan", "agent/podspec", "agent/volumes", "agent/nodelogs", "agent/probes", "agent/status", "agent/stats", "agent/events"},
		"agent/api":      {"runtime"},
		"agent/cluster":  {"agent/status"},
		"agent/events":   {},
		"agent/nodelogs": {},
		"agent/plan":     {"runtime"},
		"agent/podspec":  {"runtime"},
		"agent/probes":   {},
		"agent/stats":    {"runtime"},
		"agent/status":   {"runtime", "agent/plan"},
		"agent/volumes":  {},
		"cli":            {"agent/api", "agent/status", "runtime", "manifests", "config"},
		"config":         {},
		"cmd/podstead":   nil, // all
		// What drives the program from outside.
		"test/rig":      {},
		"test/powercut": {},
		"test/bench":    {"test/rig"}, "test/soak": {"test/rig"}, "test/e2e": {}, "test/engine": {}, "test/release": {}, // their tests import it too
	}
}

// kubernetes says which packages may import k8s.io/kubernetes, which is heavy
// and has no stable API; "" is any of it.
func kubernetes() map[string]string {
	return map[string]string{
		"manifests": "", "agent": "", "agent/podspec": "", "agent/status": "", "agent/volumes": "", "agent/probes": "",
		"runtime/docker": "pkg/credentialprovider",
		"cmd/podstead":   "pkg/capabilities",
	}
}

// goroutines says which files start goroutines: each is owned by the Run of its
// package, which waits for it.
func goroutines() []string {
	return []string{
		"agent/agent.go",            // observer and puller
		"agent/loop.go",             // workers
		"agent/observe.go",          // two questions to the engine at once
		"agent/pull.go",             // one image pull each
		"agent/act.go",              // the actions of one step, side by side
		"agent/api/server.go",       // the HTTP server
		"agent/api/attended.go",     // who looks whether a client is still there
		"agent/api/exec_streams.go", // what reads a client's streams
		"runtime/docker/carry.go",   // input and sizes of a process
		"cli/screen.go",             // signals and sizes of the terminal
		"cmd/podstead/run.go",       // every Run, in one group
		"sources/gather.go",         // questions to several sources at once
		"sources/gather_run.go",     // every source, and who carries its snapshots
		"sources/saver.go",          // writing last good sets

		"agent/api/files_client.go",   // what is packed while it is sent
		"agent/api/portforward.go",    // one direction of each forwarded connection
		"agent/usage.go",              // readings of several containers at once
		"runtime/docker/thread.go",    // a thread of its own, for a namespace
		"cli/port_forward.go",         // listeners, and both directions of each connection
		"cmd/podstead/sync_now.go",    // one look for each source
		"sources/webhook/server.go",   // its dispatcher, and the HTTP server
		"sources/webhook/dispatch.go", // one look for each source
	}
}

// source is one parsed Go file that is not a test.
type source struct {
	path    string // from the module's root
	pkg     string // the same, of its folder
	tree    *ast.File
	imports []string
}

// production parses every Go file that ends in the program. Tools, benchmarks
// and examples are not part of it, runtimetest is a fake for tests.
func production(t *testing.T) []source {
	t.Helper()
	return parsed(t, ".git", "bin", "docs", "examples", "hack", "test")
}

// parsed are all Go files but tests, without those in these folders.
func parsed(t *testing.T, skip ...string) []source {
	t.Helper()
	const root = "../.."
	var files []source
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		local, _ := filepath.Rel(root, path)
		if entry.IsDir() {
			if slices.Contains(skip, local) || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		f := source{path: filepath.ToSlash(local), pkg: filepath.ToSlash(filepath.Dir(local)), tree: tree}
		for _, i := range tree.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			f.imports = append(f.imports, name)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestImportsFollowTheArrows(t *testing.T) {
	allowed := arrows()
	for _, f := range parsed(t, ".git", "bin", "docs", "examples", "hack") {
		may, known := allowed[f.pkg]
		if !known {
			t.Errorf("%s: package %s has no arrows; name it in arrows()", f.path, f.pkg)
			continue
		}
		for _, name := range f.imports {
			local, ours := strings.CutPrefix(name, module)
			if ours && may != nil && !slices.Contains(may, local) {
				t.Errorf("%s imports %s; %s may import %v of ours", f.path, local, f.pkg, may)
			}
		}
	}
}

func TestHeavyModulesStayWhereTheyBelong(t *testing.T) {
	heavy := kubernetes()
	for _, f := range production(t) {
		for _, name := range f.imports {
			part, isKubernetes := strings.CutPrefix(name, "k8s.io/kubernetes/")
			only, may := heavy[f.pkg]
			switch {
			case isKubernetes && (!may || !strings.HasPrefix(part, only)):
				t.Errorf("%s imports %s", f.path, name)
			case strings.HasPrefix(part, "pkg/kubelet") || part == "pkg/volume/util":
				t.Errorf("%s imports %s, which drags in hundreds of packages", f.path, name)
			case strings.HasPrefix(name, "github.com/docker/docker") && f.pkg != "runtime/docker":
				t.Errorf("%s imports %s; only runtime/docker knows the engine's API", f.path, name)
			}
		}
	}
}

func TestPlanIsPure(t *testing.T) {
	for _, f := range production(t) {
		if f.pkg != "agent/plan" {
			continue
		}
		for _, name := range f.imports {
			first, _, _ := strings.Cut(name, "/")
			if slices.Contains([]string{"context", "sync", "log", "net", "os"}, first) {
				t.Errorf("%s imports %s; it decides, and does nothing", f.path, name)
			}
		}
	}
}

func TestGoroutinesHaveOwners(t *testing.T) {
	owners := map[string]bool{}
	for _, path := range goroutines() {
		owners[path] = false
	}
	for _, f := range production(t) {
		if f.pkg == "runtime/runtimetest" {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if !starts(n) {
				return true
			}
			if _, may := owners[f.path]; !may {
				t.Errorf("%s starts a goroutine; who owns it? name the file in goroutines()", f.path)
			}
			owners[f.path] = true
			return true
		})
	}
	for _, path := range slices.Sorted(maps.Keys(owners)) {
		if !owners[path] {
			t.Errorf("%s starts no goroutine any more; take it off the list", path)
		}
	}
}

// starts reports whether the node is a go statement or a call of a group's Go.
func starts(n ast.Node) bool {
	if _, ok := n.(*ast.GoStmt); ok {
		return true
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && method.Sel.Name == "Go"
}

func TestHabitsThatAParserSees(t *testing.T) {
	for _, f := range production(t) {
		if slices.Contains([]string{"util", "utils", "helper", "helpers", "common"}, f.tree.Name.Name) {
			t.Errorf("%s: package %s says nothing", f.path, f.tree.Name.Name)
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: has an init function", f.path)
				}
			case *ast.InterfaceType:
				if f.pkg == "runtime" {
					t.Errorf("%s: declares an interface; interfaces sit with their consumer", f.path)
				}
			case *ast.StructType:
				if holdsContext(n) {
					t.Errorf("%s: a struct holds a context", f.path)
				}
			}
			return true
		})
	}
}

func holdsContext(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(field *ast.Field) bool {
		kind, ok := field.Type.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		pkg, ok := kind.X.(*ast.Ident)
		return ok && pkg.Name == "context" && kind.Sel.Name == "Context"
	})
}
