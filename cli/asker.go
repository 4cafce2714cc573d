package cli

import (
	"cmp"
	"os"
	"os/user"
)

// asker is who runs this command, for events and statuses.
func asker() string {
	if name := os.Getenv("SUDO_USER"); name != "" && name != "root" {
		return name + " (sudo)"
	}
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = cmp.Or(u.Username, name)
	}
	return cmp.Or(name, "somebody on this machine")
}
