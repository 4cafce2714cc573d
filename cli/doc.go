// Package cli holds the commands that ask a running agent, and what all commands
// have in common: the terminal, exit codes, how lists are printed. Arguments come
// in (kong fills the structs); text, JSON and an exit code go out.
//
// The commands know the agent by its local API alone.
package cli
