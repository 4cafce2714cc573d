package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/printers"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// TopCmd shows what is used.
type TopCmd struct {
	Pods topPodsCmd `cmd:"" aliases:"pod,po" help:"What pods use of CPU and memory."`
}

type topPodsCmd struct {
	connection
	namespaced
	Containers bool     `help:"Each container on a line of its own."`
	SortBy     string   `placeholder:"cpu|memory" help:"Biggest first."`
	NoHeaders  bool     `help:"Without the line of headers."`
	Names      []string `arg:"" optional:"" name:"NAME" help:"Only these pods, by full name or as written."`
}

// Help says where the numbers come from.
func (*topPodsCmd) Help() string {
	return `CPU in thousandths of a core over the last second, which this command takes to measure it; memory without the cache that the kernel drops first (the working set). Pods that do not run use nothing and are not shown.`
}

// Examples are shown below the help.
func (*topPodsCmd) Examples() []Example {
	return []Example{
		{"what every pod uses, the most memory first", "podstead top pods -A --sort-by memory"},
		{"each container of a pod", "podstead top pods web --containers"},
	}
}

// used is one line: a pod, or one of its containers.
type used struct {
	namespace, pod, container string
	milliCPU                  uint64
	cpuKnown                  bool
	memory                    uint64
}

// Run measures and prints.
func (c *topPodsCmd) Run(ctx context.Context, t Terminal) error {
	if c.SortBy != "" && c.SortBy != "cpu" && c.SortBy != "memory" {
		return &Exit{Code: ExitConfig, Err: fmt.Errorf("--sort-by: %q is not one of cpu, memory", c.SortBy)}
	}
	client := c.client(t)
	all, err := client.Pods(ctx)
	if err != nil {
		return err
	}
	pods, err := selectPods(all, c.scope(), c.Names)
	if err != nil {
		return err
	}
	summary, err := client.Stats(ctx)
	if err != nil {
		return err
	}
	lines := usedBy(pods, summary, c.Containers)
	if len(lines) == 0 {
		t.Say("%s", nothingUsed(c.namespaced, c.Names))
		return nil
	}
	sortUsed(lines, c.SortBy)
	return c.print(t.Out, lines)
}

func nothingUsed(n namespaced, names []string) string {
	where := "in namespace " + n.Namespace + " (-A looks in all namespaces)"
	if n.AllNamespaces {
		where = "in any namespace"
	}
	if len(names) > 0 {
		return fmt.Sprintf("%s does not run; `podstead get pods` says why.", strings.Join(names, ", "))
	}
	return "No pod runs " + where + "."
}

// usedBy are the lines of these pods, in their order.
func usedBy(pods []v1.Pod, summary *statsapi.Summary, byContainer bool) []used {
	measured := map[string]statsapi.PodStats{}
	for _, p := range summary.Pods {
		measured[p.PodRef.UID] = p
	}
	var lines []used
	for _, pod := range pods {
		of := used{namespace: pod.Namespace, pod: pod.Name}
		containers := measured[string(pod.UID)].Containers
		if len(containers) == 0 {
			continue
		}
		all := of
		for _, c := range containers {
			line := of
			line.container = c.Name
			if c.CPU != nil && c.CPU.UsageNanoCores != nil {
				line.milliCPU, line.cpuKnown = milli(*c.CPU.UsageNanoCores), true
			}
			if c.Memory != nil && c.Memory.WorkingSetBytes != nil {
				line.memory = *c.Memory.WorkingSetBytes
			}
			all.milliCPU, all.memory = all.milliCPU+line.milliCPU, all.memory+line.memory
			all.cpuKnown = all.cpuKnown || line.cpuKnown
			if byContainer {
				lines = append(lines, line)
			}
		}
		if !byContainer {
			lines = append(lines, all)
		}
	}
	return lines
}

// milli rounds up, as quantities do: what uses anything uses 1m.
func milli(nanoCores uint64) uint64 { return (nanoCores + 999_999) / 1_000_000 }

func sortUsed(lines []used, by string) {
	key := map[string]func(used) uint64{
		"cpu":    func(u used) uint64 { return u.milliCPU },
		"memory": func(u used) uint64 { return u.memory },
	}[by]
	if key != nil {
		slices.SortStableFunc(lines, func(a, b used) int { return cmp.Compare(key(b), key(a)) })
	}
}

// print writes kubectl's columns.
func (c *topPodsCmd) print(out io.Writer, lines []used) error {
	tabs := printers.GetNewTabWriter(out)
	row := func(namespace, pod, container, cpu, memory string) {
		cells := []string{pod}
		if c.Containers {
			cells = append(cells, container)
		}
		if c.AllNamespaces {
			cells = slices.Insert(cells, 0, namespace)
		}
		fmt.Fprintln(tabs, strings.Join(append(cells, cpu, memory), "\t"))
	}
	if !c.NoHeaders {
		row("NAMESPACE", cmp.Or(map[bool]string{true: "POD"}[c.Containers], "NAME"), "NAME", "CPU(cores)", "MEMORY(bytes)")
	}
	for _, l := range lines {
		cpu := "<unknown>" // it was started anew while it was measured
		if l.cpuKnown {
			cpu = fmt.Sprintf("%dm", l.milliCPU)
		}
		row(l.namespace, l.pod, l.container, cpu, fmt.Sprintf("%dMi", l.memory>>20))
	}
	return tabs.Flush()
}
