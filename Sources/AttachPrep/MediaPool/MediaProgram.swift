import MediaEngine

/// What is started as a media child, and how.
struct MediaProgram: Sendable {
    /// The path of `attachprep-media`.
    let executable: String
    /// Whether a child without all of its walls must not work.
    let requiresSandbox: Bool
    /// How far a child stands behind us in line for the processor: 0 to 19.
    var niceness = 0

    /// The words after the program's name.
    var arguments: [String] { requiresSandbox ? [MediaChildArgument.requireWalls] : [] }
}
