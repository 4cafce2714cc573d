package volumes

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const tmpfs = "tmpfs"

// Mounter makes mounts in the engine's mount namespace.
type Mounter interface {
	// Mount mounts a new tmpfs on target.
	Mount(target, options string) error
	// Unmount takes the topmost mount off target; lazily, it goes when its last
	// user does.
	Unmount(target string, lazy bool) error
	// Mounts are all there are, in the order in which they were made.
	Mounts() ([]Mount, error)
}

// Mount is one entry of the mount table.
type Mount struct {
	Path string // without links
	Type string // of the file system
}

// kernel is the Mounter of this process's mount namespace.
type kernel struct{}

func (kernel) Mount(target, options string) error {
	return unix.Mount(tmpfs, target, tmpfs, 0, options)
}

func (kernel) Unmount(target string, lazy bool) error {
	flags := unix.UMOUNT_NOFOLLOW
	if lazy {
		flags |= unix.MNT_DETACH
	}
	return unix.Unmount(target, flags)
}

func (kernel) Mounts() ([]Mount, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read the mount table: %w", err)
	}
	defer f.Close()
	return parseMounts(f)
}

// parseMounts reads a mountinfo file, proc_pid_mountinfo(5): the fifth field is
// the mount point, the first after the dash the type.
func parseMounts(r io.Reader) ([]Mount, error) {
	var mounts []Mount
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		left, right, ok := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(fields) < 5 || len(kind) == 0 {
			return nil, fmt.Errorf("read the mount table: not understood: %q", lines.Text())
		}
		mounts = append(mounts, Mount{Path: unescape(fields[4]), Type: kind[0]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the mount table: %w", err)
	}
	return mounts, nil
}

// unescape undoes the octal escapes of blanks and backslashes.
func unescape(path string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(path, `\`)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if len(after) >= 3 {
			if code, err := strconv.ParseUint(after[:3], 8, 8); err == nil {
				b.WriteByte(byte(code))
				path = after[3:]
				continue
			}
		}
		b.WriteByte('\\')
		path = after
	}
}
