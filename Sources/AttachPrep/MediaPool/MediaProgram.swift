import MediaEngine

/// What is started as a media child, and how.
struct MediaProgram: Sendable {
    /// The path of `attachprep-media`.
    let executable: String
    /// Whether a child without all of its walls must not work.
    let requiresSandbox: Bool

    /// The words after the program's name.
    var arguments: [String] { requiresSandbox ? [MediaChildArgument.requireWalls] : [] }
}
