// Command bench measures what `podstead run` adds to the engine.
//
// Every time is compared with the bare engine calls for the same pod, made one
// after the other without any agent, in the same run: the create requests are
// those that podstead itself sent, recorded and sent again. The two are
// measured in turns, and a ratio is the median over the pairs with its 95 %
// interval. The binary is driven as a user drives it: a folder of manifests.
//
//	bench -podstead bin/podstead -rows drop,edit -pairs 30
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// options are the command line.
type options struct {
	podstead string
	rows     string
	pairs    int
	window   time.Duration
	docker   string
	image    string
	json     string
	doc      string
}

func main() {
	var o options
	flag.StringVar(&o.podstead, "podstead", "bin/podstead", "the `binary` to measure")
	flag.StringVar(&o.rows, "rows", "all", "comma-separated `names` of rows, or all: "+strings.Join(rowNames(), ","))
	flag.IntVar(&o.pairs, "pairs", 30, "pairs per ratio")
	flag.DurationVar(&o.window, "window", time.Minute, "how long the idle rows look")
	flag.StringVar(&o.docker, "docker", "/var/run/docker.sock", "the engine's `socket`")
	flag.StringVar(&o.image, "image", "podstead-test/busybox:1", "a local `image` with sh and sleep")
	flag.StringVar(&o.json, "json", "", "keep results in this `file`; rows not run now stay as they are")
	flag.StringVar(&o.doc, "doc", "", "write the table into this Markdown `file`, between its markers")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := bench(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench runs the chosen rows one by one. A row that cannot be measured is
// named and the others go on; goals that are missed are shown, not an error.
func bench(ctx context.Context, o options) error {
	chosen, err := choose(o.rows)
	if err != nil {
		return err
	}
	binary, err := filepath.Abs(o.podstead)
	if err != nil {
		return err
	}
	l, err := openLab(ctx, labConfig{podstead: binary, socket: o.docker, image: o.image, pairs: o.pairs, window: o.window})
	if err != nil {
		return err
	}
	defer l.close()

	version, err := rig.VersionOf(ctx, binary)
	if err != nil {
		return err
	}
	rep := newReport(l.machine)
	if err := rep.load(o.json); err != nil {
		return err
	}
	var unmeasured []string
	for _, r := range chosen {
		fmt.Fprintf(os.Stderr, "%-8s %s\n", r.name, r.title)
		res, err := r.measure(ctx, l)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			unmeasured = append(unmeasured, fmt.Sprintf("%s: %v", r.name, err))
			fmt.Fprintf(os.Stderr, "         not measured: %v\n", err)
			continue
		}
		rep.add(r, res, version)
		// Written row by row: a run that is cut off keeps what it measured.
		if err := rep.save(o.json, o.doc); err != nil {
			return err
		}
	}
	rep.print(os.Stdout)
	if len(unmeasured) > 0 {
		return fmt.Errorf("not measured:\n  %s", strings.Join(unmeasured, "\n  "))
	}
	return nil
}
