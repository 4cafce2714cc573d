// Command soak wears podstead: it replaces one pod again and again, asks for the
// status all the while, and looks whether anything grows that should not: memory,
// open files, goroutines, what is on disk, what is on the engine.
//
// Between two looks the agent does nothing else than a year of edits would have
// it do. What it keeps on purpose, an hour of events, is full before it is
// judged: growth counts from the middle of the run to its end.
//
//	soak -podstead bin/podstead -replacements 2000 -status 20000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/podstead/podstead/test/rig"
)

// options are the command line.
type options struct {
	podstead     string
	replacements int
	status       int
	looks        int
	docker       string
	image        string
	json, doc    string
}

func main() {
	var o options
	flag.StringVar(&o.podstead, "podstead", "bin/podstead", "the `binary` to wear")
	flag.IntVar(&o.replacements, "replacements", 2000, "how often the pod is replaced")
	flag.IntVar(&o.status, "status", 20000, "how often the status is asked for")
	flag.IntVar(&o.looks, "looks", 100, "how often it is looked what grows")
	flag.StringVar(&o.docker, "docker", rig.Socket, "the engine's `socket`")
	flag.StringVar(&o.image, "image", "podstead-test/busybox:1", "a local `image` with sh and sleep")
	flag.StringVar(&o.json, "json", "", "write all samples into this `file`")
	flag.StringVar(&o.doc, "doc", "", "write the table into this Markdown `file`, between its markers")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	r, err := soak(ctx, o)
	if err == nil {
		r.print(os.Stdout)
		err = r.save(o)
	}
	stop()
	if err == nil {
		err = r.verdict()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}
