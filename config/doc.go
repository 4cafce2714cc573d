// Package config is what `podstead run` can be told. Flags, PODSTEAD_* variables
// and the text of one file come in; a Config with every setting, or every fault
// with its place, goes out. It starts nothing and opens no file but that one.
package config
