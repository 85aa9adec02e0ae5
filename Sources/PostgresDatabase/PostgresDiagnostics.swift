public struct PostgresDiagnostics: Codable, Sendable {
    public var lines: [String] = []
    public var warnings: [String] = []
    public var faults: [String] = []
}

extension PostgresDatabase {
    public func diagnostics() async throws -> PostgresDiagnostics { PostgresDiagnostics() }
}
