package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/podstead/podstead/test/rig"
)

// script is one pod as bare engine calls: the creations that podstead itself
// sent for it, to be sent again under other names.
type script struct {
	sandbox   map[string]any
	container map[string]any
}

// record learns the script of a shape by letting a podstead start one such pod
// through a proxy. Files of the agent that are mounted into the pod are copied
// aside, since they go with the pod.
func (l *lab) record(ctx context.Context, s shape) (*script, error) {
	name := fmt.Sprintf("record%d", s.hostPort)
	if s.graceful {
		name += "g"
	}
	p, err := openProxy(filepath.Join(l.dir, name+".sock"), l.engine)
	if err != nil {
		return nil, err
	}
	defer p.close()
	a, err := l.newAgent(agentConfig{name: name, socket: p.socket})
	if err != nil {
		return nil, err
	}
	if err := a.start(ctx); err != nil {
		return nil, err
	}
	defer a.end(stopSignal)
	running := l.watch.expect(1, started(a.fullName("probe"), app))
	if _, err := a.dropPod(s, "probe", 0); err != nil {
		return nil, err
	}
	if _, err := l.watch.wait(ctx, running); err != nil {
		return nil, fmt.Errorf("record the calls of a pod: %w: %s", err, a.lastWords())
	}
	_, creates := p.take()
	sc, err := parseScript(creates)
	if err != nil {
		return nil, err
	}
	return sc, errors.Join(sc.keepMounts(a.root, filepath.Join(l.dir, name, "mounts")), l.clear(ctx, a, "probe"))
}

func parseScript(creates []json.RawMessage) (*script, error) {
	if len(creates) != 2 {
		return nil, fmt.Errorf("podstead made %d containers for a pod of one, want a sandbox and a container", len(creates))
	}
	sc := &script{}
	for i, into := range []*map[string]any{&sc.sandbox, &sc.container} {
		if err := json.Unmarshal(creates[i], into); err != nil {
			return nil, err
		}
		// Another node's, so that no agent takes them for its own.
		labels, _ := (*into)["Labels"].(map[string]any)
		for _, key := range []string{"podstead.node", "podstead.node-id"} {
			if _, ok := labels[key]; ok {
				labels[key] = "bench-bare"
			}
		}
	}
	return sc, nil
}

// keepMounts copies what is bound from below root to dir and binds the copies.
func (sc *script) keepMounts(root, dir string) error {
	host, _ := sc.container["HostConfig"].(map[string]any)
	move := func(source string) (string, error) {
		inside, ok := strings.CutPrefix(source, root)
		if !ok {
			return source, nil
		}
		target := filepath.Join(dir, inside)
		info, err := os.Stat(source)
		if err != nil {
			return "", err
		}
		if info.IsDir() {
			return target, os.MkdirAll(target, 0o777)
		}
		data, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		return target, errors.Join(os.MkdirAll(filepath.Dir(target), 0o777), os.WriteFile(target, data, 0o666))
	}
	binds, _ := host["Binds"].([]any)
	for i, b := range binds {
		source, rest, _ := strings.Cut(b.(string), ":")
		moved, err := move(source)
		if err != nil {
			return err
		}
		binds[i] = moved + ":" + rest
	}
	mounts, _ := host["Mounts"].([]any)
	for _, m := range mounts {
		mount := m.(map[string]any)
		source, _ := mount["Source"].(string)
		moved, err := move(source)
		if err != nil {
			return err
		}
		mount["Source"] = moved
	}
	return nil
}

// barePod is a pod made by bare calls.
type barePod struct{ sandbox, container string }

// containerName is the name on the engine of a bare pod's container.
func containerName(name string) string { return "bench_" + app + "_" + name }

// run makes a pod's four calls one after the other.
func (sc *script) run(ctx context.Context, e *rig.Engine, name string) (barePod, error) {
	var p barePod
	var err error
	if p.sandbox, err = e.Create(ctx, "bench_POD_"+name, sc.sandboxBody()); err != nil {
		return p, err
	}
	if err = e.Start(ctx, p.sandbox); err != nil {
		return p, err
	}
	if p.container, err = sc.createContainer(ctx, e, containerName(name), p.sandbox); err != nil {
		return p, err
	}
	return p, e.Start(ctx, p.container)
}

// createContainer makes the app container for a sandbox.
func (sc *script) createContainer(ctx context.Context, e *rig.Engine, name, sandbox string) (string, error) {
	body := maps.Clone(sc.container)
	host, _ := body["HostConfig"].(map[string]any)
	host = maps.Clone(host)
	for _, mode := range []string{"NetworkMode", "IpcMode", "PidMode"} {
		if m, _ := host[mode].(string); strings.HasPrefix(m, "container:") {
			host[mode] = "container:" + sandbox
		}
	}
	body["HostConfig"] = host
	return e.Create(ctx, name, body)
}

// portShift keeps the bare pod's host port apart from podstead's.
const portShift = 1000

// sandboxBody is the sandbox's creation with its host ports shifted.
func (sc *script) sandboxBody() map[string]any {
	body := maps.Clone(sc.sandbox)
	host, _ := body["HostConfig"].(map[string]any)
	host = maps.Clone(host)
	ports, _ := host["PortBindings"].(map[string]any)
	shifted := map[string]any{}
	for port, list := range ports {
		var bindings []any
		for _, b := range list.([]any) {
			binding := maps.Clone(b.(map[string]any))
			if n, err := strconv.Atoi(fmt.Sprint(binding["HostPort"])); err == nil {
				binding["HostPort"] = strconv.Itoa(n + portShift)
			}
			bindings = append(bindings, binding)
		}
		shifted[port] = bindings
	}
	host["PortBindings"] = shifted
	body["HostConfig"] = host
	return body
}

// on is the script for an engine whose podstead bridge is another one.
func (sc *script) on(ctx context.Context, e *rig.Engine) (*script, error) {
	found, err := networks(ctx, e)
	if err != nil {
		return nil, err
	}
	for _, n := range found {
		if !strings.Contains(n.Name, "podstead") {
			continue
		}
		body := maps.Clone(sc.sandbox)
		host, _ := body["HostConfig"].(map[string]any)
		host = maps.Clone(host)
		host["NetworkMode"] = n.ID
		body["HostConfig"] = host
		body["NetworkingConfig"] = rename(body["NetworkingConfig"], n.ID)
		return &script{sandbox: body, container: sc.container}, nil
	}
	return nil, errors.New("podstead has no bridge on this engine")
}

// rename gives the one endpoint of a networking configuration another network.
func rename(networking any, network string) any {
	config, _ := networking.(map[string]any)
	endpoints, _ := config["EndpointsConfig"].(map[string]any)
	renamed := map[string]any{}
	for _, endpoint := range endpoints {
		renamed[network] = endpoint
	}
	return map[string]any{"EndpointsConfig": renamed}
}

// runMany makes pods with several callers, each making its pods one by one.
func (sc *script) runMany(ctx context.Context, e *rig.Engine, names []string, callers int) error {
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for c := range callers {
		wg.Go(func() {
			for i := c; i < len(names) && errs[c] == nil; i += callers {
				_, errs[c] = sc.run(ctx, e, names[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// timeStart is the baseline of all starts: the four calls until the event.
func (l *lab) timeStart(ctx context.Context, sc *script, name string) (time.Duration, error) {
	running := l.watch.expect(1, named("start", containerName(name)))
	begin := time.Now()
	if _, err := sc.run(ctx, l.engine, name); err != nil {
		return 0, err
	}
	at, err := l.watch.wait(ctx, running)
	return at.Sub(begin), err
}

// sweepBare removes every container that bare calls made.
func sweepBare(ctx context.Context, e *rig.Engine) error {
	list, err := e.All(ctx)
	if err != nil {
		return err
	}
	// Containers before the sandboxes whose namespaces they share.
	slices.SortFunc(list, func(a, b rig.Box) int { return strings.Compare(b.Name(), a.Name()) })
	var group errgroup.Group
	group.SetLimit(callers())
	for _, c := range list {
		if strings.HasPrefix(c.Name(), "bench_") {
			group.Go(func() error { return remove(ctx, e, c.ID) })
		}
	}
	return group.Wait()
}
