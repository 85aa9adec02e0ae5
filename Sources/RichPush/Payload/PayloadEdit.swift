/// One change to a payload; everything it does not name stays as it is, byte for byte.
///
/// Paths are those of the payload as it is when the edit's turn comes: edits are applied in their order.
public enum PayloadEdit: Sendable, Hashable {
    /// Another value where one stands.
    case replace(PayloadPath, PayloadValue)
    /// Another key for the value that stands there.
    case rename(PayloadPath, to: String)
    /// The value goes, with its key.
    case remove(PayloadPath)
    /// A new last member of the object that stands there; replaces the value of that key when it is there already.
    case set(key: String, PayloadValue, in: PayloadPath)
}
