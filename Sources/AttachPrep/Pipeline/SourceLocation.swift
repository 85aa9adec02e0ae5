import RichPush

/// Where a source lies.
enum SourceLocation: Sendable, Hashable {
    /// An http or https URL, as given; the download checks the rest of it.
    case remote(String)
    /// A path on this machine.
    case file(String)

    /// What a message may call a local file that stands for another source: nothing of where it lies.
    func shown(for request: AttachmentRequest) -> String? {
        guard case .file(let path) = self, path != request.source, !request.source.hasPrefix("file:") else {
            return nil
        }
        return request.source
    }

    /// Reads a source as a person writes it: pure.
    ///
    /// - Parameter allowsFiles: only a command line may name files of this machine.
    /// - Throws: `source.invalid_url` or `source.scheme_not_allowed`.
    init(_ source: String, allowsFiles: Bool) throws {
        guard !source.isEmpty else {
            throw AttachPrepError(.sourceInvalidURL, "The source is empty; give a URL or a path.")
        }
        switch Self.scheme(of: source) {
        case "http", "https": self = .remote(source)
        case "file" where allowsFiles: self = .file(try Self.path(ofFileURL: source))
        case let scheme?: throw Self.notAllowed(scheme)
        case nil where allowsFiles: self = .file(source)
        case nil:
            throw AttachPrepError(
                .sourceInvalidURL, "The source has no scheme; give a URL that begins with https:// or http://.")
        }
    }

    private static func notAllowed(_ scheme: String) -> AttachPrepError {
        AttachPrepError(
            .sourceSchemeNotAllowed, "The scheme \(scheme) is not allowed; give an http or https URL.")
    }

    /// RFC 3986, 3.1; one letter and a colon would be a drive, not a scheme.
    private static func scheme(of source: String) -> String? {
        guard let colon = source.firstIndex(of: ":") else { return nil }
        let scheme = source[..<colon]
        let isScheme =
            scheme.count > 1 && scheme.first?.isLetter == true
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return isScheme && (source[colon...].hasPrefix("://") || opaque.contains(scheme.lowercased()))
            ? scheme.lowercased() : nil
    }

    /// Schemes without a host, which would else pass as a file's name.
    private static let opaque: Set<String> = ["file", "data", "javascript", "mailto", "about", "blob"]

    /// RFC 8089: `file:///path`, `file:/path` or `file://localhost/path`, percent-encoded.
    private static func path(ofFileURL source: String) throws -> String {
        var rest = source.dropFirst("file:".count)
        if rest.hasPrefix("//") {
            let host = rest.dropFirst(2).prefix { $0 != "/" }
            guard host.isEmpty || host == "localhost" else {
                throw AttachPrepError(
                    .sourceInvalidURL, "The file URL names another machine; give file:///path or a plain path.")
            }
            // Bounded: `host` is a part of `rest`, in memory.
            rest = rest.dropFirst(2 + host.count)
        }
        guard let path = percentDecoded(rest), path.hasPrefix("/") else {
            throw AttachPrepError(.sourceInvalidURL, "The file URL has no absolute path; give file:///path.")
        }
        return path
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                value != 0
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
