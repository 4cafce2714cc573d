package config

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Setting is one value in force and who set it, fit to be shown: without secrets.
type Setting struct {
	Name   string // --max-pods, podLogsDir, sources[0].git.url
	Field  string // of a KubeletConfiguration, the same; "" for none
	Value  string // "" for nothing
	Origin Origin
}

// Settings are all settings with their origins: those that have a flag or a field of
// a KubeletConfiguration, then what the document sets.
func (c Config) Settings() []Setting {
	var all []Setting
	for _, s := range table() {
		if s.when == byOnce && !c.Once && c.Origins.of(s.key()).From == FromDefault {
			continue // of no interest to an agent that stays
		}
		one := Setting{Name: s.field, Value: shown(s.of(c)), Origin: c.Origins.of(s.key())}
		if s.flag != "" {
			one.Name, one.Field = "--"+s.flag, s.field
		}
		all = append(all, one)
	}
	doc := Document{Sources: c.Listed, Webhook: c.Webhook}
	return append(all, c.written(reflect.ValueOf(doc), "")...)
}

// written are the leaves of a document that are set, in the type's order.
func (c Config) written(v reflect.Value, path string) []Setting {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.IsZero() {
		return nil
	}
	var all []Setting
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			all = append(all, c.written(v.Field(i), join(path, v.Type().Field(i).Tag.Get("json")))...)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			all = append(all, c.written(v.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	default:
		text := shown(v.Interface())
		if strings.HasSuffix(path, ".url") || strings.HasSuffix(path, ".proxy") {
			text = withoutCredentials(text)
		}
		all = append(all, Setting{Name: path, Value: text, Origin: c.Origins.of(path)})
	}
	return all
}

// shown is a value as a user would write it.
func shown(value any) string {
	switch v := value.(type) {
	case time.Duration:
		return plainSpan(v)
	case Duration:
		return plainSpan(time.Duration(v))
	case Size:
		return resource.NewQuantity(int64(v), resource.BinarySI).String()
	case netip.Prefix:
		if !v.IsValid() {
			return ""
		}
		return v.String()
	case []string:
		return strings.Join(v, ",")
	case map[string]string:
		pairs := make([]string, 0, len(v))
		for key, of := range v {
			pairs = append(pairs, key+"="+of)
		}
		slices.Sort(pairs)
		return strings.Join(pairs, ",")
	case Headers:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name+": "+hidden)
		}
		slices.Sort(names)
		return strings.Join(names, ", ")
	case slog.Level:
		return strings.ToLower(v.String())
	}
	return fmt.Sprint(value)
}

// plainSpan writes 5m0s as 5m.
func plainSpan(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return cmp.Or(text, "0s")
}
