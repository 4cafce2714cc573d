package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"

	"github.com/podstead/podstead/test/rig"
)

// machine is what the figures were measured on.
type machine struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Memory  string `json:"memory"`
	Kernel  string `json:"kernel"`
	Engine  string `json:"engine"`
	Storage string `json:"storage"`
	Cgroups string `json:"cgroups"`
}

func describe(ctx context.Context, e *rig.Engine) (machine, error) {
	var info struct {
		ServerVersion, Driver, CgroupVersion, CgroupDriver, KernelVersion string
		MemTotal                                                          int64
	}
	if err := e.Call(ctx, "GET", "/info", nil, &info); err != nil {
		return machine{}, err
	}
	cpu, err := field("/proc/cpuinfo", "model name")
	if err != nil {
		cpu = goruntime.GOARCH // boards do not always name theirs
	}
	return machine{
		CPU: cpu, Cores: goruntime.NumCPU(), Memory: fmt.Sprintf("%.0f GiB", float64(info.MemTotal)/(1<<30)),
		Kernel: info.KernelVersion, Engine: "Docker " + info.ServerVersion, Storage: info.Driver,
		Cgroups: fmt.Sprintf("v%s, %s", info.CgroupVersion, info.CgroupDriver),
	}, nil
}

// versionOf asks a podstead binary what it is.
func versionOf(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "version").Output()
	if err != nil {
		return "", fmt.Errorf("run %s version: %w", binary, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line, nil
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, Linux %s, %s (%s, cgroups %s)", m.CPU, m.Cores, m.Memory, m.Kernel, m.Engine, m.Storage, m.Cgroups)
}

// readable reports whether a file is there, for results kept from before.
func readable(file string) bool {
	_, err := os.Stat(file)
	return file != "" && err == nil
}
