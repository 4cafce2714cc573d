package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program puts this binary, as podstead itself, first into the PATH of commands
// whose environment is returned. Its clients ask the bench's agent.
func (b *bench) program() []string {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	dir := b.t.TempDir()
	script := "#!/bin/sh\nPODSTEAD_TEST_MAIN=1 exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "podstead"), []byte(script), 0o700); err != nil { //nolint:gosec // it is to be run
		b.t.Fatal(err)
	}
	return append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "PODSTEAD_ROOT_DIR="+b.cfg.RootDir, "HOME="+dir, "TERM=dumb", "LC_ALL=C.UTF-8")
}

// inBash completes a line with bash's own function, as Tab would.
const inBash = `source <(podstead completion bash)
COMP_LINE=$1 COMP_POINT=${#1}
_podstead
printf '%s\n' "${COMPREPLY[@]}"`

// inFish asks fish what Tab would show.
const inFish = `podstead completion fish | source
complete -C $argv[1]`

// inZsh types the line and a Tab into an interactive zsh and prints what it made of it.
const inZsh = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'autoload -U compinit; compinit -u -d $HOME/dump; source <(podstead completion zsh); setopt no_beep; PS1=REA""DY; unset zle_bracketed_paste'
zpty -r -m z out '*READY*'
zpty -w -n z "$1"$'\t'"#end"
zpty -r -m z out '*#end*'
print -r -- "$out"
zpty -d z`

func TestShellsComplete(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	env := b.program()
	folder := t.TempDir()
	write(t, folder, "manifest.yaml", "x")
	shells := []struct {
		name string
		run  func(ctx context.Context, line string) *exec.Cmd
		zle  bool // shows the whole line
	}{
		{"bash", func(ctx context.Context, line string) *exec.Cmd {
			return exec.CommandContext(ctx, "bash", "--norc", "-c", inBash, "bash", line)
		}, false},
		{"zsh", func(ctx context.Context, line string) *exec.Cmd {
			return exec.CommandContext(ctx, "zsh", "-f", "-c", inZsh, "zsh", line)
		}, true},
		{"fish", func(ctx context.Context, line string) *exec.Cmd {
			return exec.CommandContext(ctx, "fish", "--no-config", "-c", inFish, line)
		}, false},
	}
	cases := []struct{ name, line, word, whole string }{
		{"a command", "podstead desc", "describe", "podstead describe"},
		{"a pod, from the agent", "podstead get pods w", "web", "podstead get pods web"},
		{"a source behind a flag", "podstead --root-dir " + b.cfg.RootDir + " sync fi", "file", "sync file"},
		{"a container", "podstead logs web -c m", "main", "-c main"},
		{"a form in one word with its flag", "podstead get pods --output=yam", "yaml", "--output=yaml"},
		{"a file", "podstead validate " + folder + "/mani", folder + "/manifest.yaml", folder + "/manifest.yaml"},
	}
	for _, s := range shells {
		t.Run(s.name, func(t *testing.T) {
			if _, err := exec.LookPath(s.name); err != nil {
				t.Fatalf("%v; `make shells` brings it", err)
			}
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					cmd := s.run(ctx, c.line)
					cmd.Env = env
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					if s.zle && strings.Contains(plainText(string(out)), c.whole) {
						return
					}
					for line := range strings.Lines(string(out)) {
						word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
						if !s.zle && strings.HasSuffix(word, c.word) {
							return
						}
					}
					t.Errorf("%s was not completed:\n%q", c.line, out)
				})
			}
		})
	}
}

// plainText is what a terminal shows of a line: without what moves the cursor.
func plainText(text string) string {
	var out strings.Builder
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexAny(text[2:], "ABCDEFGHJKSTfmhlnsu")
			text = text[2+end+1:]
			continue
		case text[0] == '\b' && out.Len() > 0:
			kept := out.String()[:out.Len()-1]
			out.Reset()
			out.WriteString(kept)
		case text[0] >= ' ':
			out.WriteByte(text[0])
		}
		text = text[1:]
	}
	return out.String()
}

// Who presses Tab is not kept waiting, and sees no errors, when no agent runs.
func TestCompletionWithoutAnAgentIsQuiet(t *testing.T) {
	b := newBench(t)
	began := time.Now()
	code, out, errs := b.command("__complete", "--", "get", "pods", "")
	if code != 0 || out != "" || errs != "" || time.Since(began) > time.Second {
		t.Errorf("code %d, %q, %q after %s", code, out, errs, time.Since(began))
	}
	if _, out, _ := b.command("__complete", "--", "get", "pods", "-o", "na"); out != "name\n" {
		t.Errorf("%q", out)
	}
}
