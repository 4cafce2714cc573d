package rig

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Terminal is a new one: what is written to Keys is typed, what is read from it is
// shown; Screen is the end that a program gets.
type Terminal struct{ Keys, Screen *os.File }

// OpenTerminal makes one; close it.
func OpenTerminal() (Terminal, error) {
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return Terminal{}, err
	}
	err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	number, numberErr := unix.IoctlGetUint32(int(keys.Fd()), unix.TIOCGPTN)
	if err = errors.Join(err, numberErr); err != nil {
		return Terminal{}, errors.Join(err, keys.Close())
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return Terminal{}, errors.Join(err, keys.Close())
	}
	return Terminal{Keys: keys, Screen: screen}, nil
}

// Close ends both ends.
func (t Terminal) Close() error { return errors.Join(t.Screen.Close(), t.Keys.Close()) }

// Resize gives it another size; programs whose terminal it is are told.
func (t Terminal) Resize(columns, rows uint16) error {
	return unix.IoctlSetWinsize(int(t.Keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
}

// Cooked reports whether it takes whole lines, and ^C as a signal.
func (t Terminal) Cooked() (bool, error) {
	attributes, err := unix.IoctlGetTermios(int(t.Screen.Fd()), unix.TCGETS)
	if err != nil {
		return false, err
	}
	return attributes.Lflag&(unix.ICANON|unix.ISIG) != 0, nil
}
