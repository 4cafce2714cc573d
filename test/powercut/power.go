package powercut

// power counts steps and goes out at one.
type power struct {
	steps int
	at    int // the step that does not happen any more; 0 for none
	out   bool
}

func (p *power) step() bool {
	if p.out {
		return false
	}
	p.steps++
	p.out = p.steps == p.at
	return !p.out
}

// Arm has the power go out at the n-th step from now on, which does not happen;
// 0 for never. A step is a change of a file or a name, a sync, or an effect that
// a test tells of with Step.
func (d *Disk) Arm(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.power = power{at: n}
}

// Steps are those since Arm.
func (d *Disk) Steps() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.power.steps
}

// Step counts an effect outside the disk, which may come only if the answer is yes.
func (d *Disk) Step() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.power.step()
}

// Out reports that there is no power: whatever is asked of the disk is an error.
func (d *Disk) Out() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.power.out
}
