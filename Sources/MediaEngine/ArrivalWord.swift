/// What is said to a render whose source still arrives, a byte each.
public enum ArrivalWord: UInt8, Sendable, Hashable {
    /// There is more of it than before.
    case more = 0x2B
    /// All of it is there.
    case all = 0x2E
}
