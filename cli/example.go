package cli

// Example is a command line as a user types it. Every command shows its own below
// its help and in docs/cli.md, and a test runs each of them.
type Example struct {
	For  string // what it is good for, in a few words
	Line string // from podstead on
}

// Exampled is a command that has examples.
type Exampled interface{ Examples() []Example }
