package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	configured = 200   // pods, each with a ConfigMap of its own
	objects    = 1_000 // of all sources
)

// share is what one of three sources holds: every third pod and every third
// object, as one manifest for each number.
func (l *lab) share(third int) []change {
	var all []change
	for i := third; i < objects; i += 3 {
		text := configMap(i, 0)
		if i < configured {
			text = append(append(text, "---\n"...), readerPod(i, l.cfg.image)...)
		}
		all = append(all, change{fmt.Sprintf("pods/n%04d.yaml", i), text})
	}
	return all
}

func configMap(i, generation int) []byte {
	return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%04d}\ndata: {value: \"generation %d\"}\n", i, generation)
}

func readerPod(i int, image string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Pod
metadata: {name: p%04d}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: %s
    image: %s
    imagePullPolicy: Never
    command: [sh, -c, 'trap exit TERM; sleep 86400 & wait']
    volumeMounts: [{name: config, mountPath: /config}]
  volumes: [{name: config, configMap: {name: c%04d}}]
`, i, app, image, i)
}

// measureObjects changes a ConfigMap of one pod among 200 that three sources
// want, and looks for the new content where the container has it mounted.
func measureObjects(ctx context.Context, l *lab) (result, error) {
	repo, server, err := l.gitNode("objects")
	if err != nil {
		return result{}, err
	}
	defer server.close()
	if err := repo.commit(l.share(1)...); err != nil {
		return result{}, err
	}
	if err := repo.publish(); err != nil {
		return result{}, err
	}
	var body []byte
	for _, c := range l.share(2) {
		body = append(append(body, "---\n"...), c.content...)
	}
	web, err := serveBody(body)
	if err != nil {
		return result{}, err
	}
	defer web.close()
	document := strings.Replace(gitDocument(server.url, ""), "sources:\n",
		fmt.Sprintf("sources:\n- {name: web, interval: 1h, http: {url: %q}}\n", web.url), 1)
	a, err := l.newAgent(agentConfig{name: "objects", socket: l.cfg.socket, document: document, flags: []string{"--max-pods", "250"}})
	if err != nil {
		return result{}, err
	}
	l.agents = append(l.agents, a)
	for _, c := range l.share(0) {
		if err := os.WriteFile(filepath.Join(a.manifests, filepath.Base(c.path)), c.content, 0o600); err != nil {
			return result{}, err
		}
	}
	if err := a.start(ctx); err != nil {
		return result{}, err
	}
	defer a.end(stopSignal)
	if err := a.until(ctx, func() bool { return a.ready(ctx) == configured }); err != nil {
		return result{}, err
	}
	if err := l.watch.quiet(ctx, 2*time.Second); err != nil {
		return result{}, err
	}
	return l.changeObjects(ctx, a)
}

func (l *lab) changeObjects(ctx context.Context, a *agent) (result, error) {
	var took []float64
	for i := range l.cfg.pairs {
		n := 3 * i % configured
		n -= n % 3 // a pod of the folder
		seen, err := l.mounted(ctx, a, n)
		if err != nil {
			return result{}, err
		}
		file := fmt.Sprintf("n%04d", n)
		text := append(append(configMap(n, i+1), "---\n"...), readerPod(n, l.cfg.image)...)
		begin, err := a.drop(map[string][]byte{file: text})
		if err != nil {
			return result{}, err
		}
		want := fmt.Sprintf("generation %d", i+1)
		if err := a.until(ctx, func() bool { got, err := os.ReadFile(seen); return err == nil && string(got) == want }); err != nil {
			return result{}, err
		}
		took = append(took, float64(time.Since(begin))/1e6)
		if err := pause(ctx, stillness); err != nil {
			return result{}, err
		}
	}
	est := estimate(took)
	return result{
		values: []value{{"median", est.Median, "ms", 200}, {"slowest", slices.Max(took), "ms", 200}},
		note:   fmt.Sprintf("%d changes of a folder's file, looked for every 2 ms in the folder that is mounted; the other sources are a URL and a repository", len(took)),
	}, nil
}

// mounted is the file as the container of a pod sees it: through its own mount
// namespace.
func (l *lab) mounted(ctx context.Context, a *agent, n int) (string, error) {
	pod := a.fullName(fmt.Sprintf("p%04d", n))
	list, err := l.engine.PS(ctx, a.node())
	if err != nil {
		return "", err
	}
	for _, box := range list {
		if box.Pod() != pod || box.Container() != app || !box.Running() {
			continue
		}
		detail, err := l.engine.Inspect(ctx, box.ID)
		return fmt.Sprintf("/proc/%d/root/config/value", detail.State.Pid), err
	}
	return "", fmt.Errorf("no container of %s runs", pod)
}

// bodyServer serves one body at every path.
type bodyServer struct {
	url    string
	server *http.Server
}

func serveBody(body []byte) (*bodyServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &bodyServer{url: "http://" + l.Addr().String() + "/pods.yaml"}
	s.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(body) // a client that went away is its own affair
	})}
	go func() { _ = s.server.Serve(l) }() // ends with close
	return s, nil
}

func (s *bodyServer) close() { _ = s.server.Close() }

// measureOffline starts an agent whose URL and repository are down and that has
// ten pods of last good sets, none of which runs, as after a reboot; against
// the same pods in a folder.
func measureOffline(ctx context.Context, l *lab) (result, error) {
	repo, server, err := l.gitNode("offline")
	if err != nil {
		return result{}, err
	}
	names := podNames("web", 10)
	var committed []change
	var body []byte
	for i, name := range names {
		text := shape{}.manifest(name, l.cfg.image, 0)
		if i%2 == 0 {
			committed = append(committed, change{"pods/" + name + ".yaml", text})
		} else {
			body = append(append(body, "---\n"...), text...)
		}
	}
	if err := repo.commit(committed...); err != nil {
		return result{}, err
	}
	if err := repo.publish(); err != nil {
		return result{}, err
	}
	web, err := serveBody(body)
	if err != nil {
		return result{}, err
	}
	document := strings.Replace(gitDocument(server.url, ""), "sources:\n",
		fmt.Sprintf("sources:\n- {name: web, interval: 1h, http: {url: %q}}\n", web.url), 1)
	remote, err := l.run(ctx, agentConfig{name: "offline", document: document})
	if err != nil {
		return result{}, err
	}
	err = remote.until(ctx, func() bool { return remote.ready(ctx) == len(names) })
	web.close()
	server.close()
	if err != nil {
		return result{}, err
	}
	local, err := l.run(ctx, agentConfig{name: "offlinefile"})
	if err != nil {
		return result{}, err
	}
	if _, err := l.up(ctx, local, shape{}, names); err != nil {
		return result{}, err
	}
	defer l.clearProcesses(context.WithoutCancel(ctx), remote, local)
	pairs, err := takeTurns(ctx, l, l.cfg.pairs, l.bootTime(remote, names), l.bootTime(local, names))
	return result{pairs: pairs, limit: 1.1, note: "five pods of a repository and five of a URL, both refusing connections; the other side is ten files"}, err
}

// settled is how long pods run before they go down: podstead makes a pause before
// it replaces a sandbox that did not live so long.
const settled = 11 * time.Second

// bootTime lets all that the agent runs go down, and times from its start, with
// nothing running, to the last pod's start.
func (l *lab) bootTime(a *agent, names []string) side {
	up := time.Now()
	return func(ctx context.Context) (time.Duration, error) {
		if err := pause(ctx, settled-time.Since(up)); err != nil {
			return 0, err
		}
		if err := l.clearProcesses(ctx, a); err != nil {
			return 0, err
		}
		if err := l.watch.quiet(ctx, stillness); err != nil {
			return 0, err
		}
		running := l.watch.expect(len(names), oncePerPod(a, names))
		begin := time.Now()
		if err := a.spawn(); err != nil {
			return 0, err
		}
		at, err := l.watch.wait(ctx, running)
		if err != nil {
			return 0, fmt.Errorf("%w: %s", err, a.lastWords())
		}
		up = time.Now()
		return at.Sub(begin), nil
	}
}

// clearProcesses kills agents and all that they run. What has ended stays on the
// engine, as after a reboot.
func (l *lab) clearProcesses(ctx context.Context, agents ...*agent) error {
	for _, a := range agents {
		a.end(syscall.SIGKILL)
		list, err := l.engine.PS(ctx, a.node())
		if err != nil {
			return err
		}
		for _, box := range list {
			if !box.Running() {
				continue
			}
			if err := l.engine.Kill(ctx, box.ID, "KILL"); err != nil {
				return err
			}
		}
	}
	return nil
}
