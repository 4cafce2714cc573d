package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// privateEngine is a dockerd of the bench's own, which it may stop and start.
// It has no default bridge and writes no firewall rules, so it stays out of the
// other engine's way.
type privateEngine struct {
	dir    string
	bridge string // of its own: with none, dockerd takes the machine's docker0 away
	engine *engine
	cmd    *exec.Cmd
	exited chan struct{}
}

func (l *lab) newPrivateEngine(dir string) (*privateEngine, error) {
	if _, err := exec.LookPath("dockerd"); err != nil {
		return nil, fmt.Errorf("private engine: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "daemon.json")
	if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
		return nil, err
	}
	p := &privateEngine{
		dir: dir, engine: newEngine(filepath.Join(dir, "docker.sock")),
		bridge: fmt.Sprintf("psb%d", os.Getpid()), // an interface's name may have 15 bytes
	}
	return p, link("add", p.bridge, "type", "bridge")
}

func link(words ...string) error {
	if out, err := exec.Command("ip", append([]string{"link"}, words...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip link %s: %w: %s", words[0], err, out)
	}
	return nil
}

// close ends the engine and takes its bridge away.
func (p *privateEngine) close() {
	p.stop()
	_ = link("delete", p.bridge) // gone already is what is wanted
}

// start runs dockerd and returns when it answers.
func (p *privateEngine) start(ctx context.Context) error {
	in := func(name string) string { return filepath.Join(p.dir, name) }
	log, err := os.OpenFile(in("dockerd.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("dockerd", "--config-file", in("daemon.json"), "--data-root", in("data"), "--exec-root", in("exec"),
		"--pidfile", in("dockerd.pid"), "--host", "unix://"+p.engine.socket,
		"--bridge", p.bridge, "--iptables=false", "--ip-masq=false")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is the bench's
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start dockerd: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // how it ended is in its log
	}()
	p.cmd, p.exited = cmd, exited

	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for p.engine.ping(ctx) != nil {
		select {
		case <-tick.C:
		case <-p.exited:
			return fmt.Errorf("dockerd ended by itself, see %s", in("dockerd.log"))
		case <-ctx.Done():
			return fmt.Errorf("dockerd does not answer: %w", ctx.Err())
		}
	}
	return nil
}

// stop ends dockerd as a shutdown of the machine does, its containers with it.
func (p *privateEngine) stop() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // gone already is what is wanted
	<-p.exited
	p.cmd = nil
}
