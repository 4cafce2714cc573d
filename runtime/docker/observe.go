package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/podstead/podstead/runtime"
)

// List shows every pod of this node with one engine call. It is a summary:
// states and creation times, but neither exit codes, reasons nor other times,
// and a container whose start failed shows as created.
func (m *Manager) List(ctx context.Context) ([]runtime.Pod, error) {
	mark := m.members.begin()
	found, err := m.engine.listContainers(ctx, labelNodeID+"="+m.cfg.NodeID)
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	m.forgetReported(found)
	pods, ids := map[string]*runtime.Pod{}, map[string][]string{}
	for _, c := range found {
		id, err := m.identify(c.ID, c.Names, c.Labels)
		if err != nil {
			continue
		}
		pod := pods[id.pod.UID]
		if pod == nil {
			pod = &runtime.Pod{PodRef: id.pod}
			pods[id.pod.UID] = pod
		}
		addSummary(pod, id, c)
		ids[id.pod.UID] = append(ids[id.pod.UID], c.ID)
	}
	m.members.listedAll(ids, mark)
	all := make([]runtime.Pod, 0, len(pods))
	for _, uid := range slices.Sorted(maps.Keys(pods)) {
		newestFirst(pods[uid])
		all = append(all, *pods[uid])
	}
	return all, nil
}

// Pod shows all of one pod: a list call, unless it is known to have no
// containers, and an inspection of each that may have changed since the last. A
// pod that the engine does not know is an empty one.
func (m *Manager) Pod(ctx context.Context, uid string) (runtime.Pod, error) {
	found, err := m.listPod(ctx, uid)
	if err != nil {
		return runtime.Pod{}, fmt.Errorf("list containers of pod %s: %w", uid, err)
	}
	var pod runtime.Pod
	for _, c := range found {
		id, err := m.identify(c.ID, c.Names, c.Labels)
		if err != nil {
			continue
		}
		told, err := m.detail(ctx, id, c)
		switch {
		case errors.Is(err, runtime.ErrNotFound):
			continue // removed since the list
		case err != nil:
			return runtime.Pod{}, fmt.Errorf("inspect %s of %s: %w", id.container, id.pod, err)
		}
		pod.PodRef = id.pod
		if id.sandbox() {
			pod.Sandboxes = append(pod.Sandboxes, told.sandbox)
		} else {
			pod.Containers = append(pod.Containers, told.container)
		}
	}
	newestFirst(&pod)
	return pod, nil
}

// listPod lists a pod's containers: by their ids where these are known, else by
// the pod's label, from which they are known then.
func (m *Manager) listPod(ctx context.Context, uid string) ([]container.Summary, error) {
	ids, known := m.members.get(uid)
	if known && len(ids) == 0 {
		return nil, nil
	}
	mark := m.members.begin()
	found, err := m.engine.listContainersOf(ctx, ids, labelNodeID+"="+m.cfg.NodeID, labelUID+"="+uid)
	if err != nil {
		return nil, err
	}
	shown := make([]string, len(found))
	for i, c := range found {
		shown[i] = c.ID
	}
	if known {
		m.members.gone(uid, shown, ids)
	} else {
		m.members.listed(uid, shown, mark)
	}
	return found, nil
}

// detail is what is known of a container that a list shows, from an inspection
// now or before.
func (m *Manager) detail(ctx context.Context, id identity, listed container.Summary) (detail, error) {
	known, ok, mark := m.details.get(listed.ID, stateOf(listed.State))
	if ok {
		return known, nil
	}
	found, err := m.engine.inspectContainer(ctx, listed.ID)
	if err != nil {
		return detail{}, err
	}
	told := detail{state: stateOf(found.State.Status)}
	if id.sandbox() {
		told.sandbox = sandboxFrom(id, found)
	} else {
		told.container = containerFrom(id, found)
		told.container.ImageID = m.imageID(ctx, found.Image, found.Config.Image)
	}
	m.details.put(listed.ID, told, mark)
	return told, nil
}

// identify reads what a container is; one that bears our labels and is not
// ours is told of once.
func (m *Manager) identify(id string, names []string, labels map[string]string) (identity, error) {
	name := ""
	if len(names) > 0 {
		name = names[0]
	}
	is, err := identify(name, labels, m.cfg.NodeID)
	if err != nil {
		if _, told := m.reported.LoadOrStore(id, struct{}{}); !told {
			m.log.Warn("leaving alone a container that only looks like ours", "container", name, "id", short(id), "err", err)
		}
	}
	return is, err
}

// forgetReported drops what was told of containers that are gone.
func (m *Manager) forgetReported(found []container.Summary) {
	m.reported.Range(func(id, _ any) bool {
		if !slices.ContainsFunc(found, func(c container.Summary) bool { return c.ID == id }) {
			m.reported.Delete(id)
		}
		return true
	})
}

func addSummary(pod *runtime.Pod, id identity, c container.Summary) {
	state, created := stateOf(c.State), time.Unix(c.Created, 0)
	if id.sandbox() {
		pod.Sandboxes = append(pod.Sandboxes, runtime.Sandbox{
			ID:          c.ID,
			Attempt:     id.attempt,
			State:       state,
			CreatedAt:   created,
			HostNetwork: c.HostConfig.NetworkMode == "host",
		})
		return
	}
	pod.Containers = append(pod.Containers, runtime.Container{
		ID:          c.ID,
		Name:        id.container,
		Attempt:     id.attempt,
		SandboxID:   id.sandboxID,
		Image:       c.Image,
		State:       state,
		CreatedAt:   created,
		MessagePath: id.messagePath,
	})
}

func sandboxFrom(id identity, c container.InspectResponse) runtime.Sandbox {
	return runtime.Sandbox{
		ID:          c.ID,
		Attempt:     id.attempt,
		State:       stateOf(c.State.Status),
		CreatedAt:   parseTime(c.Created),
		StartedAt:   started(c.State),
		FinishedAt:  parseTime(c.State.FinishedAt), // kept while it runs: it tells of a start from outside
		IPs:         addresses(c.NetworkSettings),
		HostNetwork: c.HostConfig.NetworkMode.IsHost(),
	}
}

func containerFrom(id identity, c container.InspectResponse) runtime.Container {
	observed := runtime.Container{
		ID:          c.ID,
		Name:        id.container,
		Attempt:     id.attempt,
		SandboxID:   id.sandboxID,
		Image:       c.Config.Image,
		State:       stateOf(c.State.Status),
		CreatedAt:   parseTime(c.Created),
		StartedAt:   started(c.State),
		FinishedAt:  finished(c.State),
		Message:     c.State.Error,
		StopSignal:  c.Config.StopSignal,
		MessagePath: id.messagePath,
		LogPath:     c.LogPath,
	}
	if startFailed(c.State) {
		observed.State = runtime.StateExited
		observed.StartedAt, observed.FinishedAt = observed.CreatedAt, observed.CreatedAt
	}
	if observed.State == runtime.StateExited {
		observed.ExitCode = c.State.ExitCode
		observed.Reason = exitReason(c.State)
	}
	return observed
}

// startFailed reports whether a process could not be run, which counts as a
// run that failed, as with cri-dockerd. A start that the engine refused before
// it came to the process (the sandbox was not running, the disk full) left the
// container as it was created.
func startFailed(s *container.State) bool {
	if s.Status != container.StateCreated || s.ExitCode == 0 {
		return false
	}
	refusal := meaning(call{name: "container_start", joins: true}, errors.New(s.Error))
	return refusal == nil || errors.Is(refusal, runtime.ErrCannotRun)
}

// exitReason is cri-dockerd's. The kernel killing any process of a container
// counts, whatever the exit code.
func exitReason(s *container.State) string {
	switch {
	case s.OOMKilled:
		return "OOMKilled"
	case s.Status == container.StateCreated:
		return "ContainerCannotRun"
	case s.ExitCode == 0:
		return "Completed"
	default:
		return "Error"
	}
}

// stateOf reads the engine's word for a state. A paused process exists, and
// counts as running; one that is going or half gone counts as nothing.
func stateOf(word string) runtime.State {
	switch word {
	case container.StateCreated:
		return runtime.StateCreated
	case container.StateRunning, container.StatePaused, container.StateRestarting:
		return runtime.StateRunning
	case container.StateExited:
		return runtime.StateExited
	default:
		return runtime.StateUnknown
	}
}

// started is never after the end: the engine notes the start of a process that
// ends at once when it has already noted its end.
func started(s *container.State) time.Time {
	begin, end := parseTime(s.StartedAt), finished(s)
	if !end.IsZero() && end.Before(begin) {
		return end
	}
	return begin
}

// finished is zero while a container runs: the engine keeps the time of an
// earlier run.
func finished(s *container.State) time.Time {
	if s.Running {
		return time.Time{}
	}
	return parseTime(s.FinishedAt)
}

// addresses are those on user-defined networks, IPv4 before IPv6.
func addresses(settings *container.NetworkSettings) []string {
	if settings == nil {
		return nil
	}
	var four, six []string
	for _, name := range slices.Sorted(maps.Keys(settings.Networks)) {
		endpoint := settings.Networks[name]
		if ip, err := netip.ParseAddr(endpoint.IPAddress); err == nil {
			four = append(four, ip.String())
		}
		if ip, err := netip.ParseAddr(endpoint.GlobalIPv6Address); err == nil {
			six = append(six, ip.String())
		}
	}
	return append(four, six...)
}

func newestFirst(pod *runtime.Pod) {
	slices.SortStableFunc(pod.Sandboxes, func(a, b runtime.Sandbox) int {
		return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(pod.Containers, func(a, b runtime.Container) int {
		return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
	})
}

// parseTime reads the engine's times; year 1 is its word for never.
func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() <= 1 {
		return time.Time{}
	}
	return t
}
