package runtime

// Usage is what a running container or sandbox uses, read at one time.
type Usage struct {
	CPU             uint64 // nanoseconds of all cores, since its start
	Memory          uint64 // bytes, with the page cache
	WorkingSet      uint64 // Memory without the part of the cache that goes first
	RSS             uint64 // anonymous memory
	PageFaults      uint64
	MajorPageFaults uint64
	MemoryLimit     uint64 // as the engine tells it: all of the machine's when there is none
	// Interfaces are those of a sandbox with a network of its own, sorted by name.
	Interfaces []Interface
}

// Interface is what one network interface has carried since it was made.
type Interface struct {
	Name              string
	RxBytes, RxErrors uint64
	TxBytes, TxErrors uint64
}
