package main

import "os"

// readable reports whether a file is there, for results kept from before.
func readable(file string) bool {
	_, err := os.Stat(file)
	return file != "" && err == nil
}
