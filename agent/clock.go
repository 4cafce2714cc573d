package agent

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/podstead/podstead/agent/plan"
)

// SystemClock returns the machine's clock: CLOCK_BOOTTIME, which runs on in
// suspend and is never stepped, together with the kernel's boot id, so that a
// moment from an earlier boot is known as such.
func SystemClock() (func() plan.Moment, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, fmt.Errorf("read the kernel's boot id: %w", err)
	}
	boot := strings.TrimSpace(string(id))
	var probe unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &probe); err != nil {
		return nil, fmt.Errorf("read the boot clock: %w", err)
	}
	return func() plan.Moment {
		var ts unix.Timespec
		// Cannot fail: it did not above, and the clock id is a constant.
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
		return plan.Moment{Boot: boot, Since: time.Duration(ts.Nano()), Wall: time.Now()}
	}, nil
}
