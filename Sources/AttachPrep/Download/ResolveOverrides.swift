internal import RichPush

/// Answers given by hand instead of a name server's.
struct ResolveOverrides: Sendable, Hashable {
    private var answers: [String: [IPAddress]] = [:]

    /// - Parameter entries: in curl's form, "host:port:address[,address]"; the host may be `*`, addresses may stand in
    ///   brackets.
    /// - Throws: `request.invalid` for an entry that cannot be read.
    init(_ entries: [String]) throws(AttachPrepError) {
        for entry in entries {
            // curl's "+" lets an answer grow old; ours are asked for anew each time.
            let text = entry.hasPrefix("+") ? entry.dropFirst() : entry[...]
            let parts = text.split(separator: ":", maxSplits: 2)
            guard parts.count == 3, let port = UInt16(parts[1]) else { throw Self.unreadable(entry) }
            let addresses = parts[2].split(separator: ",").map { IPAddress($0.trimming(["[", "]"])) }
            guard !addresses.isEmpty, !addresses.contains(nil) else { throw Self.unreadable(entry) }
            // Bounded: 16 bits.
            answers[Self.key(String(parts[0]), Int(port))] = addresses.compactMap(\.self)
        }
    }

    /// The answer for a host and a port, nil when there is none.
    func addresses(of host: String, port: Int) -> [IPAddress]? {
        answers[Self.key(host, port)] ?? answers[Self.key("*", port)]
    }

    private static func key(_ host: String, _ port: Int) -> String { "\(host.lowercased()):\(port)" }

    private static func unreadable(_ entry: String) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid, "\"\(entry)\" is not of the form host:port:address[,address]; correct --resolve.")
    }
}

extension Substring {
    fileprivate func trimming(_ marks: Set<Character>) -> String {
        let start = drop { marks.contains($0) }
        return String(start.reversed().drop { marks.contains($0) }.reversed())
    }
}
