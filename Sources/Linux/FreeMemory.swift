internal import CLinux

/// Memory that the process has freed and its allocator still keeps.
package enum FreeMemory {
    /// Gives it back to the machine, from every arena. glibc: malloc_trim(3).
    package static func giveBack() {
        malloc_trim(0)
    }
}
