package rig

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
)

// Machine is what figures were measured on.
type Machine struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Memory  string `json:"memory"`
	Kernel  string `json:"kernel"`
	Engine  string `json:"engine"`
	Storage string `json:"storage"`
	Cgroups string `json:"cgroups"`
}

// Machine describes the one that the engine is on.
func (e *Engine) Machine(ctx context.Context) (Machine, error) {
	var info struct {
		ServerVersion, Driver, CgroupVersion, CgroupDriver, KernelVersion string
		MemTotal                                                          int64
	}
	if err := e.Call(ctx, "GET", "/info", nil, &info); err != nil {
		return Machine{}, err
	}
	cpu, err := Field("/proc/cpuinfo", "model name")
	if err != nil {
		cpu = goruntime.GOARCH // boards do not always name theirs
	}
	return Machine{
		CPU: cpu, Cores: goruntime.NumCPU(), Memory: fmt.Sprintf("%.0f GiB", float64(info.MemTotal)/(1<<30)),
		Kernel: info.KernelVersion, Engine: "Docker " + info.ServerVersion, Storage: info.Driver,
		Cgroups: fmt.Sprintf("v%s, %s", info.CgroupVersion, info.CgroupDriver),
	}, nil
}

func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, Linux %s, %s (%s, cgroups %s)", m.CPU, m.Cores, m.Memory, m.Kernel, m.Engine, m.Storage, m.Cgroups)
}

// VersionOf asks a podstead binary what it is.
func VersionOf(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "version").Output()
	if err != nil {
		return "", fmt.Errorf("run %s version: %w", binary, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line, nil
}

// Field returns what follows the first line that begins with a key.
func Field(file, key string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), key); ok {
			return strings.Trim(rest, " \t:"), nil
		}
	}
	return "", fmt.Errorf("read %s: no %s", file, key)
}
