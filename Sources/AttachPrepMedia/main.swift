import Glibc
import MediaChild

// One child of the pool: takes calls from the socket it inherited and answers them, until its parent closes it.
// Standard error is the parent's to give away; the exit code says what was wrong before the first call.

do {
    exit(try MediaChildProgram(arguments: Array(CommandLine.arguments.dropFirst())).run())
} catch {
    let text = Array("attachprep-media: \(error)\n".utf8)
    _ = unsafe text.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(1)
}
