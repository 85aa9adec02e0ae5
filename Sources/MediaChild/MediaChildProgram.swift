import Glibc
import Linux
import MediaEngine
import MediaProcessing
import RichPush

/// The program `attachprep-media`: libraries, walls, then calls.
package struct MediaChildProgram {
    /// The words after the program's name; see `MediaChildArgument`.
    let arguments: [String]

    package init(arguments: [String]) {
        self.arguments = arguments
    }

    /// Serves until the parent closes the socket, or makes the one attempt that was asked for.
    ///
    /// - Returns: the code to end with.
    package func run() throws -> CInt {
        try ProcessFlags.dieWithParent()
        if arguments.first == MediaChildArgument.attempt {
            return WallTrial(arguments.dropFirst().first.flatMap(WallAttempt.init)).run()
        }
        // Whatever comes from a file is loaded here: behind the walls there are none.
        let processor = try MediaProcessor()
        if !arguments.contains(MediaChildArgument.withoutWalls) {
            let missing = MediaChildWalls.raise()
            if !missing.isEmpty, arguments.contains(MediaChildArgument.requireWalls) {
                return MediaChildExit.wallMissing
            }
        }
        try MediaChildLoop(socket: MessageSocket(adopting: ChildProcess.socketDescriptor)).run(processor)
        return 0
    }
}
