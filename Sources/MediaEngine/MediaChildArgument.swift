/// Words on the child's command line; the parent writes them.
package enum MediaChildArgument {
    /// End with `MediaChildExit.wallMissing` when a wall cannot be raised.
    package static let requireWalls = "--require-walls"
    /// Raise no wall: for measuring what they cost, never said by the pool.
    package static let withoutWalls = "--without-walls"
    /// Make one attempt and end, instead of serving.
    package static let attempt = "--attempt"
}
