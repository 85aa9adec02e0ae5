/// A file somebody made to do harm, and what may become of it.
struct HostileFile: Sendable {
    let name: String
    /// Error codes and outcomes that are right.
    let endings: Set<String>
    private let content: @Sendable (HostileTraps) throws -> [UInt8]

    init(_ name: String, _ endings: Set<String>, _ content: @escaping @Sendable (HostileTraps) throws -> [UInt8]) {
        self.name = name
        self.endings = endings
        self.content = content
    }

    init(_ name: String, _ ending: String, _ content: @autoclosure @escaping @Sendable () -> [UInt8]) {
        self.init(name, [ending]) { _ in content() }
    }

    func bytes(_ traps: HostileTraps) throws -> [UInt8] { try content(traps) }

    static let unrecognized: Set<String> = ["media.unrecognized"]
    static let refused: Set<String> = ["media.unrecognized", "media.unsupported", "media.corrupt"]
    static let corrupt: Set<String> = ["media.corrupt"]
}
