package cli

// Progress tells a person who waits what is waited for, a line whenever that
// changes. In a pipe it says nothing. One goroutine uses it.
type Progress struct {
	t    Terminal
	on   bool
	last string
}

// NewProgress writes to the terminal's error side, where it does not mix with the
// command's output.
func NewProgress(t Terminal) *Progress { return &Progress{t: t, on: IsTerminal(t.Err)} }

// Show tells the line unless it is empty or the one told last. What comes from
// manifests in it may not move the cursor.
func (p *Progress) Show(line string) {
	if !p.on || line == "" || line == p.last {
		return
	}
	p.last = line
	p.t.Say("%s", OneLine(line))
}
