import Glibc
import Linux
package import MediaEngine
import MediaProcessing
import RichPush

/// Looks at a call and its descriptors; what it throws is the answer.
package typealias MediaChildIntercept = (MediaCall, [CInt]) throws -> Void

/// The program `attachprep-media`: libraries, walls, then calls.
package struct MediaChildProgram {
    /// The words after the program's name; see `MediaChildArgument`.
    let arguments: [String]
    /// What looks at each call before it is worked on, and may do anything else instead: a test build's own attempts.
    let intercept: MediaChildIntercept?

    package init(arguments: [String], intercept: MediaChildIntercept? = nil) {
        self.arguments = arguments
        self.intercept = intercept
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
        let socket = MessageSocket(adopting: ChildProcess.socketDescriptor)
        try MediaChildLoop(socket: socket, intercept: intercept).run(processor)
        return 0
    }
}
