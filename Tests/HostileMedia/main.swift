import Glibc
import MediaChild
import MediaEngine

// The media child as it is, but that a file can tell it what to try: the walls are the real ones.

do {
    var kept: [CInt] = []
    let program = MediaChildProgram(arguments: Array(CommandLine.arguments.dropFirst())) { call, descriptors in
        try HostileOrder(descriptors, kept: kept).carryOut()
        // One that was taken over would not close the files it is to write.
        if case .render = call { kept += descriptors.dropFirst().map { dup($0) } }
    }
    exit(try program.run())
} catch {
    exit(1)
}
