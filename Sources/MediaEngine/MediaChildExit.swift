/// The code with which a child ends; the parent reads it.
package enum MediaChildExit {
    /// A wall that has to stand could not be raised.
    package static let wallMissing: Int32 = 77
    /// A trial was refused: the wall holds.
    package static let attemptRefused: Int32 = 70
    /// A trial got through.
    package static let attemptSucceeded: Int32 = 71
}
