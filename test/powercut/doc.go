// Package powercut is a disk whose power can be cut. Tests let the code that they
// are about work on it, cut the power at a step of their choice, and look at what
// is left: nothing that was not synced, or any part of it.
//
// The disk is a file system in memory, mounted through FUSE, so that the code
// under test needs no seam for it. It keeps apart what was written and what was
// synced, for each file and each name:
//
//   - fsync of a file makes its content durable, and not its name;
//   - fsync of a directory makes the names in it durable, and neither its own
//     name nor what is in the files;
//   - a rename is one change, and durable when either directory was synced;
//   - modes are durable with the file, as every journal has it.
//
// That is less than ext4, xfs and btrfs promise, and what they have in common.
// What survives of the rest is for a Fate to say.
//
// A power cut takes the engine too: tests call Step before each of its effects,
// and no effect may come once Step has said no.
package powercut
