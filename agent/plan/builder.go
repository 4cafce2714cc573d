package plan

import "time"

// builder puts a decision together.
type builder struct {
	steps   [][]Action
	waiting map[string]Waiting
	due     time.Duration // until the earliest thing due; 0 for none
	ready   bool
	end     *Finished
}

// step adds one step; an empty one is none.
func (b *builder) step(actions ...Action) {
	if len(actions) > 0 {
		b.steps = append(b.steps, actions)
	}
}

// wake asks for another look after d.
func (b *builder) wake(d time.Duration) {
	if d > 0 && (b.due == 0 || d < b.due) {
		b.due = d
	}
}

func (b *builder) wait(container string, w Waiting) {
	if b.waiting == nil {
		b.waiting = map[string]Waiting{}
	}
	b.waiting[container] = w
}

func (b *builder) decision() Decision {
	d := Decision{Steps: b.steps, Waiting: b.waiting, Wake: -1, Ready: b.ready, Finished: b.end}
	if b.due > 0 {
		d.Wake = b.due
	}
	return d
}
