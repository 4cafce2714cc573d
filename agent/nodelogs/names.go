package nodelogs

import (
	"strconv"
	"strings"
)

// maxName is how long the name of a file may be.
const maxName = 255

// suffix of every link, by which shippers choose them.
const suffix = ".log"

// markName is a link in a pod's folder that leads nowhere and says by its target
// whose the folder is. It is made in one step and matches no shipper's pattern.
const markName = ".podstead"

// folder is the name of a pod's folder. A pod's name may be so long that it has to
// be cut; the UID is what identifies it.
func (p Pod) folder() string {
	before, after := p.Namespace+"_", "_"+p.UID
	return before + cut(p.Name, maxName-len(before)-len(after)) + after
}

// uidOf reads the UID out of a folder's name; "" for one that is no pod's.
func uidOf(folder string) string {
	parts := strings.Split(folder, "_")
	if len(parts) != 3 {
		return ""
	}
	return parts[2]
}

// beside is the name of a log in the containers' folder. Shippers read the id at
// its end, so that it is the pod's name that is cut.
func (p Pod) beside(log Log) string {
	after := "_" + p.Namespace + "_" + log.Container + "-" + log.ID + suffix
	return cut(p.Name, maxName-len(after)) + after
}

// name is what the kubelet calls an instance's log.
func (l Log) name() string { return strconv.Itoa(l.Attempt) + suffix }

// otherName is what it is called when that name is taken by another's log.
func (l Log) otherName() string { return strconv.Itoa(l.Attempt) + "-" + cut(l.ID, 12) + suffix }

func cut(text string, length int) string { return text[:min(len(text), max(length, 0))] }
