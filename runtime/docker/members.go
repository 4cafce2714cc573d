package docker

import (
	"slices"
	"sync"
)

// members keeps which containers each pod has, so that a look at one pod asks the
// engine for these by their ids: to find them by a label it would go through all
// containers that it has, which costs it milliseconds on a full node, several
// times for each pod that starts.
//
// It is learned from lists by label and kept up with what is made here. What
// vanishes, a list by ids shows. What somebody else makes in a pod's name is seen
// with its start's event or with the next list of all. Nothing counts without the
// event stream.
type members struct {
	mu    sync.Mutex
	live  bool // the event stream is up
	whole bool // a list of all has been seen since: who is not known has none
	marks uint64
	of    map[string]*membership // by pod UID
}

// membership is what is known of one pod.
type membership struct {
	ids    []string
	unsure bool   // there may be others
	mark   uint64 // when it last changed other than by a list
}

// watched says whether the event stream is up from now on. What was known is
// forgotten either way.
func (m *members) watched(live bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live, m.whole, m.of = live, false, map[string]*membership{}
	m.marks++
}

// begin returns the mark of a list that is about to be asked for.
func (m *members) begin() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.marks
}

// listed takes over a list of one pod's containers by label, begun at the mark.
func (m *members) listed(uid string, ids []string, mark uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take(uid, ids, mark)
}

// listedAll takes over a list of all pods' containers, begun at the mark.
func (m *members) listedAll(pods map[string][]string, mark uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid := range m.of {
		if _, has := pods[uid]; !has {
			m.take(uid, nil, mark)
		}
	}
	for uid, ids := range pods {
		m.take(uid, ids, mark)
	}
	m.whole = m.live
}

// take is for the holder of the lock. A list that began before the last change
// may not show it, and is no proof.
func (m *members) take(uid string, ids []string, mark uint64) {
	known := m.of[uid]
	switch {
	case !m.live || known != nil && known.mark > mark:
	case len(ids) == 0:
		delete(m.of, uid)
	default:
		m.of[uid] = &membership{ids: ids, mark: mark}
	}
}

// get returns the ids of the containers that a pod may have, if all are known.
func (m *members) get(uid string) (ids []string, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.of[uid]
	switch {
	case found == nil:
		return nil, m.whole
	case found.unsure:
		return nil, false
	}
	return slices.Clone(found.ids), true
}

// made adds a container that was made here.
func (m *members) made(uid, id string) {
	m.change(uid, func(now *membership, fresh bool) {
		if !slices.Contains(now.ids, id) { // a list may have been faster
			now.ids = append(now.ids, id)
		}
		now.unsure = now.unsure || fresh && !m.whole
	})
}

// doubt says that a pod may have containers that are not known.
func (m *members) doubt(uid string) {
	m.change(uid, func(now *membership, _ bool) { now.unsure = true })
}

// started takes note of a container that runs now, whoever made it.
func (m *members) started(uid, id string) {
	m.mu.Lock()
	found := m.of[uid]
	known := found != nil && slices.Contains(found.ids, id)
	m.mu.Unlock()
	if !known {
		m.doubt(uid)
	}
}

func (m *members) change(uid string, how func(now *membership, fresh bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.live {
		return
	}
	now, known := m.of[uid]
	if !known {
		now = &membership{}
		m.of[uid] = now
	}
	m.marks++
	now.mark = m.marks
	how(now, !known)
}

// gone drops the ids that were asked for and are not shown any more.
func (m *members) gone(uid string, shown []string, asked []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.of[uid]
	if found == nil {
		return
	}
	found.ids = slices.DeleteFunc(found.ids, func(id string) bool {
		return slices.Contains(asked, id) && !slices.Contains(shown, id)
	})
	if len(found.ids) == 0 && !found.unsure && m.whole {
		delete(m.of, uid)
	}
}
