package docker

import (
	"context"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/system"
	"github.com/podstead/podstead/runtime"
)

// facts are what does not change while the engine runs.
type facts struct {
	engine       runtime.Engine
	cgroupParent string
	lowerScore   bool
}

// Engine asks the engine whether it lives and says what it is. Each call is
// one ping; the rest is asked once for each life of the engine. The error is
// runtime.ErrUnavailable when it does not answer.
func (m *Manager) Engine(ctx context.Context) (runtime.Engine, error) {
	ping, err := m.engine.ping(ctx)
	if err != nil {
		return runtime.Engine{}, fmt.Errorf("ping engine: %w", err)
	}
	f, err := m.facts.get(ctx, m.learnFacts)
	if err != nil {
		return runtime.Engine{}, err
	}
	f.engine.APIVersion = ping.APIVersion
	return f.engine, nil
}

func (m *Manager) learnFacts(ctx context.Context) (facts, error) {
	info, err := m.engine.info(ctx)
	if err != nil {
		return facts{}, fmt.Errorf("ask engine about itself: %w", err)
	}
	lower, reason := m.canLowerScore(ctx)
	if !lower {
		m.log.Info("sandboxes run without an oom score of their own", "reason", reason)
	}
	return facts{engine: engineFrom(info), cgroupParent: cgroupParent(info.CgroupDriver), lowerScore: lower}, nil
}

// surroundings gathers what both kinds of spec need.
func (m *Manager) surroundings(ctx context.Context) (surroundings, error) {
	f, err := m.facts.get(ctx, m.learnFacts)
	if err != nil {
		return surroundings{}, err
	}
	pause, err := pauseFor(f.engine.Architecture)
	if err != nil {
		return surroundings{}, err
	}
	return surroundings{
		nodeName:     m.cfg.NodeName,
		nodeID:       m.cfg.NodeID,
		cgroupParent: f.cgroupParent,
		logSize:      m.logLimit,
		logFiles:     m.cfg.LogMaxFiles,
		pauseImage:   pause.ref,
		lowerScore:   f.lowerScore,
	}, nil
}

func engineFrom(info system.Info) runtime.Engine {
	return runtime.Engine{
		Name:         "docker",
		Version:      info.ServerVersion,
		OS:           info.OSType,
		Architecture: goArch(info.Architecture),
		CPUs:         info.NCPU,
		Memory:       info.MemTotal,
		CgroupV2:     info.CgroupVersion == "2",
		CgroupDriver: info.CgroupDriver,
		AppArmor:     hasAppArmor(info.SecurityOptions),
		LiveRestore:  info.LiveRestoreEnabled,
		RootDir:      info.DockerRootDir,
	}
}

// goArch turns the kernel's word for a machine into Go's.
func goArch(machine string) string {
	switch {
	case machine == "x86_64":
		return "amd64"
	case machine == "aarch64":
		return "arm64"
	case strings.HasPrefix(machine, "armv"):
		return "arm"
	default:
		return machine
	}
}

// cgroupParent keeps podstead's containers together and away from a kubelet's.
func cgroupParent(driver string) string {
	switch driver {
	case "cgroupfs":
		return "/podstead"
	case "systemd":
		return "podstead.slice"
	default: // "none": an engine without privileges has no cgroups to give
		return ""
	}
}

// hasAppArmor reads options like "name=apparmor" or, of old, "apparmor".
func hasAppArmor(options []string) bool {
	for _, option := range options {
		name, _, _ := strings.Cut(strings.TrimPrefix(option, "name="), ",")
		if name == "apparmor" {
			return true
		}
	}
	return false
}
