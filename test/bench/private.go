package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// privateEngine is a dockerd of the bench's own, which it may stop and start.
// It has no default bridge and writes no firewall rules, so it stays out of the
// other engine's way.
type privateEngine struct {
	dir     string
	bridge  string // of its own: with none, dockerd takes the machine's docker0 away
	engine  *rig.Engine
	process *rig.Process // nil while none runs
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
		dir: dir, engine: rig.NewEngine(filepath.Join(dir, "docker.sock")),
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
	cmd := exec.Command("dockerd", "--config-file", in("daemon.json"), "--data-root", in("data"), "--exec-root", in("exec"),
		"--pidfile", in("dockerd.pid"), "--host", "unix://"+p.engine.Socket,
		"--bridge", p.bridge, "--iptables=false", "--ip-masq=false")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is the bench's
	process, err := rig.Start(cmd, in("dockerd.log"))
	if err != nil {
		return err
	}
	p.process = process

	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := process.Until(ctx, 2*time.Millisecond, func() error { return p.engine.Ping(ctx) }); err != nil {
		return fmt.Errorf("dockerd does not answer, see %s: %w", in("dockerd.log"), err)
	}
	return nil
}

// stop ends dockerd as a shutdown of the machine does, its containers with it.
func (p *privateEngine) stop() {
	if p.process == nil {
		return
	}
	_ = p.process.Signal(syscall.SIGTERM) // gone already is what is wanted
	<-p.process.Ended()
	p.process = nil
}
