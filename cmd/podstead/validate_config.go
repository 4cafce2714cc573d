package main

import "github.com/podstead/podstead/config"

// configuration checks a file as `podstead run --config` would.
func (c *checked) configuration(path string, data []byte) {
	c.configurations++
	faults, warnings := config.CheckFile(path, func(string) ([]byte, error) { return data, nil }, trySources)
	c.wrong = append(c.wrong, faults...)
	c.odd = append(c.odd, warnings...)
}
