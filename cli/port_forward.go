package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

// PortForwardCmd is `podstead port-forward`.
type PortForwardCmd struct {
	connection
	Namespace string   `short:"n" default:"default" placeholder:"NAMESPACE" help:"Namespace of the pod."`
	Address   []string `default:"localhost" placeholder:"IP" help:"Local addresses to listen on; localhost is 127.0.0.1 and ::1, 0.0.0.0 lets other machines in."`
	Pod       string   `arg:"" name:"POD" help:"Pod, by its full name (web-n1) or as written in the manifest (web)."`
	Ports     []string `arg:"" name:"PORT" help:"LOCAL:REMOTE, REMOTE alone for the same on both sides, :REMOTE for any free local port. REMOTE may be the name of a container's port."`
}

// Help says what differs from kubectl's.
func (*PortForwardCmd) Help() string {
	return `Listens on local ports and carries their connections to ports of the pod, also to a server that listens on its localhost only, until ^C or until the pod is gone. A connection that the pod refuses is told and ends nothing else.`
}

// Examples are shown below the help.
func (*PortForwardCmd) Examples() []Example {
	return []Example{
		{"the pod's port 80 on the local port 8080", "podstead port-forward web 8080:80"},
		{"two ports, one on whichever local port is free", "podstead port-forward web 8080:80 :443"},
		{"for other machines too", "podstead port-forward web 8080:80 --address 0.0.0.0"},
	}
}

// Run forwards until ctx ends, or the pod.
func (c *PortForwardCmd) Run(ctx context.Context, t Terminal) error {
	client := c.client(t)
	all, err := client.Pods(ctx)
	if err != nil {
		return err
	}
	pods, err := selectPods(all, c.Namespace, []string{c.Pod})
	if err != nil {
		return err
	}
	pod := serving(pods)
	if pod.Status.Phase != v1.PodRunning {
		return fmt.Errorf("cannot forward to pod %s: it is not running (%s); see `podstead get events %s`", pod.Name, pod.Status.Phase, pod.Name)
	}
	ports, err := parsePorts(pod, c.Ports)
	if err != nil {
		return &Exit{Code: ExitConfig, Err: err}
	}
	addresses, err := listenAddresses(c.Address)
	if err != nil {
		return &Exit{Code: ExitConfig, Err: err}
	}
	f := &forwarder{client: client, pod: pod, t: Terminal{Out: &locked{to: t.Out}, Err: &locked{to: t.Err}}}
	return f.run(ctx, addresses, ports)
}

// locked lets several goroutines write lines.
type locked struct {
	mu sync.Mutex
	to io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// forwarder carries connections to one pod. client-go's does not do: it ends with
// the first connection that is refused, gives up what a client still says when the
// server has ended its side, and lets one connection hold up the others.
type forwarder struct {
	client *api.Client
	pod    *v1.Pod
	t      Terminal
}

// run listens, and serves until ctx or the pod ends. All that it started has ended
// when it returns.
func (f *forwarder) run(ctx context.Context, addresses []listenAddress, ports []forwardedPort) error {
	group, ctx := errgroup.WithContext(ctx)
	var open []*localPort
	for _, port := range ports {
		listeners, err := f.listen(ctx, addresses, port)
		if err != nil {
			f.t.Say("Unable to listen on port %d: %v", port.local, err)
		}
		open = append(open, listeners...)
	}
	if len(open) == 0 {
		return errors.New("no port is forwarded; name other local ports, as in 18080:80, or :80 for any that is free")
	}
	group.Go(func() error { return f.awaitEnd(ctx) })
	for _, l := range open {
		group.Go(func() error { return f.serve(ctx, l) })
	}
	return group.Wait()
}

// serve accepts connections until ctx ends, and waits for them to end.
func (f *forwarder) serve(ctx context.Context, l *localPort) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	group, ctx := errgroup.WithContext(ctx)
	for {
		conn, err := l.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				group.Go(func() error { return fmt.Errorf("accept on local port %d: %w", l.local, err) })
			}
			break
		}
		fmt.Fprintf(f.t.Out, "Handling connection for %d\n", l.local)
		group.Go(func() error { return f.carry(ctx, conn, l) })
	}
	return group.Wait()
}

// carry takes one connection to the pod. What goes wrong with it alone is told; the
// error is that there is no pod any more.
func (f *forwarder) carry(ctx context.Context, local net.Conn, l *localPort) error {
	defer local.Close()
	remote, err := f.client.DialPort(ctx, f.pod.Namespace, f.pod.Name, l.remote)
	if answered := (*api.AnswerError)(nil); errors.As(err, &answered) && answered.Code == http.StatusNotFound {
		_ = l.Close() // ends the loop that waits for this connection
		return f.gone(ctx)
	}
	if err == nil {
		err = exchange(ctx, local, remote)
	}
	if err != nil && ctx.Err() == nil {
		f.t.Say("podstead: %d -> %d: %v", l.local, l.remote, err)
	}
	return nil
}

// exchange carries both directions until both have ended. The error is the agent's.
func exchange(ctx context.Context, local net.Conn, remote *api.PodPort) error {
	end := func() { _, _ = local.Close(), remote.Close() }
	defer context.AfterFunc(ctx, end)()
	defer end()
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		if _, err := io.Copy(remote, local); err != nil {
			end()
			return
		}
		_ = remote.CloseWrite() // a pod that is gone is met by the other direction
	})
	if _, err := io.Copy(local, remote); err != nil {
		end()
		return nil // the local side has gone
	}
	if half, ok := local.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	err := remote.Err()
	end()
	return err
}
