import NIOHTTP1

/// What machines ask about the service: answered when nothing else is, on connections beyond the limit.
enum ProbeRule {
    /// The paths of `HealthRoutes`.
    static let paths: Set<Substring> = ["/healthz", "/readyz", "/metrics"]

    static func isProbe(_ head: HTTPRequestHead) -> Bool {
        [.GET, .HEAD].contains(head.method) && paths.contains(head.uri.prefix { $0 != "?" })
    }
}
