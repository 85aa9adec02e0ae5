import Glibc
import MediaEngine
import MediaProcessing

// The real media process with its real sandbox, except that files can contain commands to escape from it.

do {
    var earlierOutputs: [CInt] = []
    let program = MediaProcessProgram(arguments: Array(CommandLine.arguments.dropFirst())) { call, descriptors in
        try HostileCommand(descriptors, earlierOutputs: earlierOutputs).run()
        // A compromised process would keep its output files open.
        if case .render = call { earlierOutputs += descriptors.dropFirst().map { dup($0) } }
    }
    exit(try program.run())
} catch {
    exit(1)
}
