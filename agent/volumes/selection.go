package volumes

import (
	"errors"
	"fmt"
	"io/fs"

	v1 "k8s.io/api/core/v1"
)

// selection says which keys of an object become files, and how.
type selection struct {
	items    []v1.KeyToPath // none for all keys, each under its own name
	mode     *int32
	user     *int64
	optional *bool
	missing  string // what is said of a key that is not there
}

// nothing is what a missing object comes to.
func (s selection) nothing(err error) (payload, error) {
	if s.optional != nil && *s.optional {
		return payload{}, nil
	}
	return nil, err
}

// of picks the files out of an object's data.
func (s selection) of(data map[string][]byte) (payload, error) {
	files := payload{}
	if s.user != nil {
		return nil, errNoOwner
	}
	if len(s.items) == 0 {
		for key, value := range data {
			if err := files.add(key, file{value, s.modeOf(nil)}); err != nil {
				return nil, err
			}
		}
		return files, nil
	}
	for i := range s.items {
		if err := s.pick(files, data, &s.items[i]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

var errNoOwner = errors.New("an owner for files of a volume is not supported")

func (s selection) pick(files payload, data map[string][]byte, item *v1.KeyToPath) error {
	value, ok := data[item.Key]
	switch {
	case item.User != nil:
		return errNoOwner
	case !ok && s.optional != nil && *s.optional:
		return nil
	case !ok:
		return fmt.Errorf("%s: %s", s.missing, item.Key)
	}
	return files.add(item.Path, file{value, s.modeOf(item.Mode)})
}

func (s selection) modeOf(own *int32) fs.FileMode {
	mode := fileMode
	if s.mode != nil {
		mode = *s.mode
	}
	if own != nil {
		mode = *own
	}
	return fs.FileMode(mode) & fs.ModePerm //nolint:gosec // validated to be 0…0777, and cut here
}
