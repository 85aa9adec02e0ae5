/// A file made to cause harm, and its allowed outcomes.
struct HostileFile: Sendable {
    let name: String
    /// Error codes and outcomes.
    let allowedOutcomes: Set<String>
    private let content: @Sendable (HostileTraps) throws -> [UInt8]

    init(
        _ name: String, _ allowedOutcomes: Set<String>, _ content: @escaping @Sendable (HostileTraps) throws -> [UInt8]
    ) {
        self.name = name
        self.allowedOutcomes = allowedOutcomes
        self.content = content
    }

    init(_ name: String, _ outcome: String, _ content: @autoclosure @escaping @Sendable () -> [UInt8]) {
        self.init(name, [outcome]) { _ in content() }
    }

    func bytes(_ traps: HostileTraps) throws -> [UInt8] { try content(traps) }

    static let unrecognized: Set<String> = ["media.unrecognized"]
    static let rejected: Set<String> = ["media.unrecognized", "media.unsupported", "media.corrupt"]
    static let corrupt: Set<String> = ["media.corrupt"]
}
