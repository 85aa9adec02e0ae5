import Glibc
import MediaProcessing

// The media process: serves calls on the socket that it inherited until its parent closes it.
// Standard error is whatever the parent passes; the exit code reports errors before the first call.

do {
    exit(try MediaProcessProgram(arguments: Array(CommandLine.arguments.dropFirst())).run())
} catch {
    let text = Array("attachprep-media: \(error)\n".utf8)
    _ = unsafe text.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(1)
}
