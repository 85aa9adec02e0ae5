/// How the command ended, as its exit code.
enum CommandEnd: Int32, Error {
    /// All ready.
    case ready = 0
    /// Some rejected; for `inspect` and `doctor`: something would be rejected or is missing.
    case someRejected = 1
    /// The command line could not be understood.
    case wrongUsage = 2
    /// Ctrl-C.
    case interrupted = 130
}
