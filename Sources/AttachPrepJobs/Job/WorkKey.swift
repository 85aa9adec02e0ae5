/// What makes two requests the same work: source, options, policy, budget and headers, but neither id nor terms.
public struct WorkKey: Sendable, Hashable {
    /// Lower-case hexadecimal.
    public let text: String

    public init(_ text: String) {
        self.text = text
    }
}
