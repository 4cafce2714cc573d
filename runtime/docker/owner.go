package docker

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/podstead/podstead/runtime"
)

// maxAccounts bounds what is read of a container's list of users or groups.
const maxAccounts = 1 << 20

// owner is the user and group that a container's process runs as, from the
// configuration's "user[:group]". Names, and the group of a user that is given
// alone, are looked up in the container; what is not there counts as root, as
// files that come with an image do.
func (m *Manager) owner(ctx context.Context, id, configured string) (uid, gid int, err error) {
	user, group, _ := strings.Cut(configured, ":")
	if user == "" {
		return 0, 0, nil
	}
	uid, uidErr := strconv.Atoi(user)
	gid, gidErr := strconv.Atoi(group)
	if uidErr == nil && gidErr == nil {
		return uid, gid, nil
	}
	if uidErr != nil || group == "" {
		account, err := m.account(ctx, id, "/etc/passwd", user)
		if err != nil {
			return 0, 0, err
		}
		uid = number(account, 2, uid)
		gid = number(account, 3, 0)
	}
	if group != "" && gidErr != nil {
		account, err := m.account(ctx, id, "/etc/group", group)
		if err != nil {
			return 0, 0, err
		}
		gid = number(account, 2, 0)
	}
	return uid, gid, nil
}

// number is a field of an account, or another when there is none.
func number(account []string, field, otherwise int) int {
	if field >= len(account) {
		return otherwise
	}
	if n, err := strconv.Atoi(account[field]); err == nil {
		return n
	}
	return otherwise
}

// account finds a line by its name or number in a file like /etc/passwd; nil when
// there is none, or no such file.
func (m *Manager) account(ctx context.Context, id, file, key string) ([]string, error) {
	archive, err := m.engine.readArchive(ctx, id, file)
	if errors.Is(err, runtime.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	content := tar.NewReader(io.LimitReader(archive, maxAccounts))
	if _, err := content.Next(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(content); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if fields[0] == key || len(fields) > 2 && fields[2] == key {
			return fields, nil
		}
	}
	return nil, nil
}
