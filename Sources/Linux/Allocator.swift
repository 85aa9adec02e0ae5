internal import CLinux

/// The memory allocator of the process.
package enum Allocator {
    /// Returns freed memory of all arenas to the system. glibc: `malloc_trim(3)`.
    package static func trim() {
        malloc_trim(0)
    }
}
