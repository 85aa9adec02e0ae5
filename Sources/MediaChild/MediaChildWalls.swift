import Glibc
package import Linux
package import MediaEngine
import RichPush

/// The walls that the media child raises around itself before its first untrusted byte.
///
/// All of them hold for threads that begin later, none needs a privilege, none can be taken down again.
package enum MediaChildWalls {
    /// Raises what this machine can raise, once all libraries are loaded and before any thread was started.
    ///
    /// - Returns: the walls that could not be raised, each with the reason.
    package static func raise(_ walls: [Wall] = Wall.allCases) -> [(wall: Wall, fault: SystemError)] {
        // Landlock and the filter hold for the thread that asks and those it starts: another one would stay outside.
        let isAlone = (ProcessFlags.threadCount ?? 1) == 1
        let strays = isAlone ? [] : [(wall: Wall.files, fault: SystemError("a thread has begun", code: EBUSY))]
        return strays
            // Bounded: lists.
            + order.filter(walls.contains).compactMap { wall in
                do throws(SystemError) {
                    try raise(wall)
                    return nil
                } catch {
                    return (wall, error)
                }
            }
    }

    /// The filter comes last, since the other walls are raised by calls that it refuses; Landlock asks for the first.
    private static let order: [Wall] = [
        .capabilities, .privileges, .orphans, .dumps, .memory, .fileSize, .openFiles, .files, .systemCalls,
    ]

    private static func raise(_ wall: Wall) throws(SystemError) {
        switch wall {
        case .privileges: try ProcessFlags.refuseNewPrivileges()
        case .capabilities: try Capabilities.dropAll()
        case .orphans: try ProcessFlags.dieWithParent()
        case .dumps: try refuseDumps()
        case .memory: try ResourceLimit.addressSpace.set(Limits.childAddressSpaceBytesMax)
        // The parent sets it anew with each call.
        case .processorTime: break
        case .fileSize: try limitFileSize()
        case .openFiles: try ResourceLimit.openFiles.set(Limits.childOpenFilesMax)
        case .files: try Landlock.denyEverything()
        case .systemCalls: try SystemCallFilter.computing(socket: ChildProcess.socketDescriptor).install()
        }
    }

    private static func refuseDumps() throws(SystemError) {
        try ResourceLimit.coreDump.set(0)
        try ProcessFlags.refuseDumps()
    }

    /// A file that grows too large is a write that fails, not the end of the process.
    private static func limitFileSize() throws(SystemError) {
        _ = signal(SIGXFSZ, SIG_IGN)
        try ResourceLimit.fileSize.set(Limits.childFileBytesMax)
    }
}
