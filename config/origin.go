package config

import (
	"cmp"
	"maps"
	"strings"
)

// Who can set a value, in order of precedence.
const (
	FromFlag        = "flag"
	FromEnvironment = "environment"
	FromFile        = "file"
	FromDefault     = "default"
)

// Origin is who set a value, and where.
type Origin struct {
	From  string // FromFlag, …
	Place string // --max-pods, PODSTEAD_MAX_PODS, /etc/podstead/config.yaml:4:1; "" for a default
	field string // the path of the file's field, for one of a file
}

// Origins are the origins of settings by their names. Each layer that sets a value
// notes itself here in the same step.
type Origins map[string]Origin

// withSourcesOf are origins with those of what can change while the agent runs
// taken from next.
func (o Origins) withSourcesOf(next Origins) Origins {
	all := Origins{}
	maps.Copy(all, o)
	for _, s := range table() {
		if s.when != atOnce {
			continue
		}
		delete(all, s.key())
		if origin, set := next[s.key()]; set {
			all[s.key()] = origin
		}
	}
	listed := func(path string, _ Origin) bool { return strings.HasPrefix(path, "sources[") }
	maps.DeleteFunc(all, listed)
	for path, origin := range next {
		if listed(path, origin) {
			all[path] = origin
		}
	}
	return all
}

func (o Origins) of(key string) Origin {
	if origin, set := o[key]; set {
		return origin
	}
	return Origin{From: FromDefault}
}

// nameOf is what a fault of a setting is told of.
func (c Config) nameOf(key string) string { return c.Origins.of(key).name(key) }

// name is what a fault of a setting is told of: where its value stands and what
// it is called.
func (o Origin) name(key string) string {
	flag, field := names(key)
	switch {
	case o.From == FromFile && flag != "":
		return o.Place + ": " + cmp.Or(o.field, field) + " (" + flag + ")"
	case o.From == FromFile:
		return o.Place + ": " + cmp.Or(o.field, field)
	case flag == "":
		return field
	case o.From == FromEnvironment:
		return flag + " (from $" + o.Place + ")"
	case field != "":
		return flag + " (" + field + ")"
	}
	return flag
}

// names are the flag and the KubeletConfiguration's field of a setting, "" for
// none.
func names(key string) (flag, field string) {
	for _, s := range table() {
		if s.key() != key {
			continue
		}
		if s.flag != "" {
			flag = "--" + s.flag
		}
		return flag, s.field
	}
	return "", key
}

// variable is the environment's name of a flag.
func variable(flag string) string {
	return "PODSTEAD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
