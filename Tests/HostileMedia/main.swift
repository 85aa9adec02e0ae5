import Glibc
import MediaChild

// The media child as it is, but that a file can tell it what to try: the walls are the real ones.

do {
    let program = MediaChildProgram(arguments: Array(CommandLine.arguments.dropFirst())) { _, descriptors in
        try HostileOrder(descriptors).carryOut()
    }
    exit(try program.run())
} catch {
    exit(1)
}
