/// A host whose addresses are known and allowed: curl asks nobody else.
struct PinnedHost: Sendable, Hashable {
    let host: String
    let port: Int
    let addresses: [IPAddress]

    /// For CURLOPT_RESOLVE; the plus sign lets the entry leave libcurl's cache, which would else grow for ever.
    var pin: String {
        "+\(host):\(port):" + addresses.map(\.bracketed).joined(separator: ",")
    }
}
