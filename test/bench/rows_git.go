package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// hookToken is what the bench's pushes show.
const hookToken = "bench-hook-token"

// gitNode is what the rows about git begin with: a repository that a server on
// loopback serves.
func (l *lab) gitNode(name string) (*repository, *gitServer, error) {
	dir := filepath.Join(l.dir, name, "git")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	repo, err := newRepository(filepath.Join(dir, "fleet.git"))
	if err != nil {
		return nil, nil, err
	}
	server, err := serveGit(dir)
	return repo, server, err
}

// gitDocument is a configuration of one git source that looks when it is told
// to, and of what follows.
func gitDocument(url, more string) string {
	return fmt.Sprintf(`apiVersion: podstead/v1alpha1
kind: Configuration
sources:
- name: fleet
  interval: 1h
  maxRemoval: 100%%
  git:
    url: %s
    ref: main
    paths: [pods]
%s`, url+"/fleet.git", more)
}

// measurePush compares a push that a webhook tells of with a file of the same
// content dropped into a folder. What git itself does before the branch has
// moved is not timed.
func measurePush(ctx context.Context, l *lab) (result, error) {
	repo, server, err := l.gitNode("push")
	if err != nil {
		return result{}, err
	}
	defer server.close()
	if err := repo.commit(change{"pods/readme.txt", []byte("pods of this node")}); err != nil {
		return result{}, err
	}
	if err := repo.publish(); err != nil {
		return result{}, err
	}
	hook, err := l.hookURL()
	if err != nil {
		return result{}, err
	}
	token := filepath.Join(l.dir, "push", "token")
	if err := os.WriteFile(token, []byte(hookToken), 0o600); err != nil {
		return result{}, err
	}
	address := strings.TrimSuffix(strings.TrimPrefix(hook, "http://"), "/hook")
	a, err := l.run(ctx, agentConfig{name: "push", document: gitDocument(server.url,
		fmt.Sprintf("webhook: {address: %q, path: /hook, tokenFile: %s}\n", address, token))})
	if err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	files, err := l.run(ctx, agentConfig{name: "pushfile"})
	if err != nil {
		return result{}, err
	}
	defer files.end(stopSignal)

	ours := func(ctx context.Context) (time.Duration, error) {
		took, err := l.pushed(ctx, a, repo, hook)
		if err != nil {
			return 0, err
		}
		return took, l.unpush(ctx, a, repo, hook)
	}
	byFile := func(ctx context.Context) (time.Duration, error) {
		took, err := l.up(ctx, files, shape{}, []string{"web"})
		if err != nil {
			return 0, err
		}
		return took, l.clear(ctx, files, "web")
	}
	pairs, err := takeTurns(ctx, l, l.cfg.pairs, ours, byFile)
	return result{pairs: pairs, limit: 1.3, note: "the other side is a file dropped into a folder of another agent"}, err
}

// hookURL is a free address for a webhook.
func (l *lab) hookURL() (string, error) {
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer probe.Close()
	return "http://" + probe.Addr().String() + "/hook", nil
}

// pushed adds the pod by a commit: from the branch's move to the process's start.
func (l *lab) pushed(ctx context.Context, a *agent, repo *repository, hook string) (time.Duration, error) {
	if err := repo.commit(change{"pods/web.yaml", shape{}.manifest("web", a.image, 0)}); err != nil {
		return 0, err
	}
	running := l.watch.expect(1, oncePerPod(a, []string{"web"}))
	if err := repo.publish(); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := callHook(ctx, hook); err != nil {
		return 0, err
	}
	at, err := l.watch.wait(ctx, running)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, a.lastWords())
	}
	return at.Sub(begin), err
}

// unpush takes the pod away again and waits until nothing of it runs.
func (l *lab) unpush(ctx context.Context, a *agent, repo *repository, hook string) error {
	if err := repo.commit(change{"pods/web.yaml", nil}); err != nil {
		return err
	}
	if err := repo.publish(); err != nil {
		return err
	}
	if err := callHook(ctx, hook); err != nil {
		return err
	}
	return l.awaitGone(ctx, a, "web")
}

func callHook(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+hookToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the webhook answers %s", resp.Status)
	}
	return nil
}

// polls is how often the unchanged repository is asked.
const polls = 10_000

// measurePoll lets a source look again and again at a repository of many refs
// in which nothing changes. The server answers from memory what git's own
// answered before, so that its work is not in the way.
func measurePoll(ctx context.Context, l *lab) (result, error) {
	repo, server, err := l.gitNode("poll")
	if err != nil {
		return result{}, err
	}
	defer server.close()
	if err := repo.commit(change{"pods/config.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n")}); err != nil {
		return result{}, err
	}
	if err := repo.publish(); err != nil {
		return result{}, err
	}
	if err := repo.addRefs(20_000); err != nil {
		return result{}, err
	}
	server.remember()
	a, err := l.run(ctx, agentConfig{name: "poll", document: gitDocument(server.url, "")})
	if err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	for range 500 { // what is allocated once
		if err := a.sync(ctx); err != nil {
			return result{}, err
		}
	}
	server.take()
	before, err := a.weigh()
	if err != nil {
		return result{}, err
	}
	for range polls {
		if err := a.sync(ctx); err != nil {
			return result{}, err
		}
	}
	after, err := a.weigh()
	if err != nil {
		return result{}, err
	}
	requests, size := server.take()
	return result{
		values: []value{
			{"requests a poll", float64(requests) / polls, "", 1},
			{"bytes a poll", float64(size) / polls, "", 4096},
			{"cpu a poll", (after.cpu - before.cpu).Seconds() * 1000 / polls, "ms", 5},
			{"files written", float64(after.differs(before)), "", 0},
			{"growth", after.rss - before.rss, "MiB", 5},
		},
		note: fmt.Sprintf("%d polls, asked for through the local API, whose work is counted too; bodies are counted, without HTTP's headers", polls),
	}, nil
}

// sync makes the git source look and waits for it.
func (a *agent) sync(ctx context.Context) error {
	if err := a.local.Call(ctx, http.MethodPost, "/podstead/v1/sources/fleet/sync", nil, nil); err != nil {
		return fmt.Errorf("%w: %s", err, a.lastWords())
	}
	return nil
}

// weight is what an agent has used so far, and what is on its disk.
type weight struct {
	cpu   time.Duration
	rss   float64
	files map[string]fs.FileInfo
}

func (a *agent) weigh() (w weight, err error) {
	if w.cpu, err = cpuTime(a.pid()); err != nil {
		return w, err
	}
	if w.rss, err = residentMiB(a.pid()); err != nil {
		return w, err
	}
	w.files = map[string]fs.FileInfo{}
	return w, filepath.Walk(a.root, func(path string, info fs.FileInfo, err error) error {
		w.files[path] = info
		return err
	})
}

// differs counts the files that are new, gone or written to since.
func (w weight) differs(before weight) int {
	n := 0
	for path, info := range w.files {
		was, ok := before.files[path]
		if !ok || !was.ModTime().Equal(info.ModTime()) || was.Size() != info.Size() {
			n++
		}
	}
	for path := range before.files {
		if _, ok := w.files[path]; !ok {
			n++
		}
	}
	return n
}

// measureLarge syncs a large repository for the first time. Its manifests are
// another node's pods: they are read, and nothing has to run.
func measureLarge(ctx context.Context, l *lab) (result, error) {
	const history, files, pods = 300 << 20, 20_000, 50
	repo, server, err := l.gitNode("large")
	if err != nil {
		return result{}, err
	}
	defer server.close()
	var manifests []change
	for _, name := range podNames("web", pods) {
		text := strings.Replace(string(shape{}.manifest(name, l.cfg.image, 0)), "spec:\n", "spec:\n  nodeName: elsewhere\n", 1)
		manifests = append(manifests, change{"pods/" + name + ".yaml", []byte(text)})
	}
	if err := repo.grow(history, files, manifests); err != nil {
		return result{}, err
	}
	pack, err := repo.packBytes()
	if err != nil {
		return result{}, err
	}
	plain, err := l.run(ctx, agentConfig{name: "largeidle"})
	if err != nil {
		return result{}, err
	}
	if err := pause(ctx, 2*time.Second); err != nil {
		return result{}, err
	}
	idle, err := residentMiB(plain.pid())
	plain.end(stopSignal)
	if err != nil {
		return result{}, err
	}
	begin := time.Now()
	a, err := l.run(ctx, agentConfig{name: "large", document: gitDocument(server.url, "")})
	if err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	if err := a.sync(ctx); err != nil {
		return result{}, err
	}
	took := time.Since(begin)
	peak, err := peakMiB(a.pid())
	if err != nil {
		return result{}, err
	}
	disk, err := diskUse(filepath.Join(a.root, "sources", "fleet"))
	if err != nil {
		return result{}, err
	}
	return result{
		values: []value{
			{"peak over idle", peak - idle, "MiB", 100},
			{"disk", float64(disk) / float64(pack), "× pack", 3},
			{"start to first sync", took.Seconds(), "s", -1},
		},
		note: fmt.Sprintf("idle %.0f MiB, peak %.0f MiB; the pack of the newest commit alone has %.1f MB", idle, peak, float64(pack)/1e6),
	}, nil
}

// diskUse adds up the files below a folder.
func diskUse(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
