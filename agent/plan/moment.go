package plan

import "time"

// Moment is one reading of the clocks. Delays are counted on the boot clock,
// which no NTP step moves and which runs on while the machine is suspended;
// the wall clock is for showing, and for moments of an earlier boot.
type Moment struct {
	Boot  string        `json:"boot"`  // kernel boot id
	Since time.Duration `json:"since"` // since that boot
	Wall  time.Time     `json:"wall"`
}

// After returns how long m lies after earlier, between 0 and limit. Within one
// boot the boot clock decides. Across boots the wall clocks are compared, and
// since a board without a battery boots in the past, a negative difference
// counts as 0.
func (m Moment) After(earlier Moment, limit time.Duration) time.Duration {
	d := m.Wall.Sub(earlier.Wall)
	if m.Boot == earlier.Boot {
		d = m.Since - earlier.Since
	}
	return min(max(d, 0), limit)
}

// Add returns the moment d later on the same boot.
func (m Moment) Add(d time.Duration) Moment {
	return Moment{Boot: m.Boot, Since: m.Since + d, Wall: m.Wall.Add(d)}
}
