package import AttachPrepModel
internal import FileIO
internal import FoundationEssentials
internal import RichPush
internal import SafeArithmetic

/// Credentials for hosts, in the format of netrc files as curl reads them.
///
/// ```
/// machine cdn.example login backend password "with \" spaces"
/// default login anonymous password -
/// ```
package struct NetrcFile: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        /// In lower case; nil for any host.
        var host: String?
        var login: String?
        var password: String?
    }

    private let entries: [Entry]

    /// Reads a file.
    ///
    /// - Throws: `request.invalid` when it cannot be read or is invalid.
    package init(path: String) throws(AttachPrepError) {
        let text: String
        do { text = try SmallFile.text(of: path, bytesMax: Limits.netrcBytesMax) } catch {
            switch error {
            case .unreadable, .notRegular:
                throw .invalidNetrc("\(path) cannot be read; check its path and permissions.")
            case .tooLarge:
                throw .invalidNetrc("\(path) is over the limit of \(Limits.netrcBytesMax.grouped) bytes; shorten it.")
            }
        }
        try self.init(text)
    }

    /// - Throws: `request.invalid` for an entry without its value. The message has no secrets.
    package init(_ text: String) throws(AttachPrepError) {
        var entries: [Entry] = []
        var tokens = NetrcTokens(text)
        while let token = try tokens.next() {
            switch token {
            case "machine": entries.append(Entry(host: try tokens.value(of: token).lowercased()))
            case "default": entries.append(Entry())
            case "login" where !entries.isEmpty:
                // Bounded: the list is not empty.
                entries[entries.count - 1].login = try tokens.value(of: token)
            case "password" where !entries.isEmpty:
                // Bounded: likewise.
                entries[entries.count - 1].password = try tokens.value(of: token)
            case "account" where !entries.isEmpty: _ = try tokens.value(of: token)
            case "macdef": tokens.skipMacro()
            default:
                throw .invalidNetrc("line \(tokens.line) is invalid; begin each entry with machine NAME or default.")
            }
        }
        self.entries = entries
    }

    /// The value of an `Authorization` header for a host in lowercase: the first entry for it, or the default.
    package func authorization(for host: String) -> String? {
        guard let entry = entries.first(where: { $0.host == host || $0.host == nil }),
            entry.login != nil || entry.password != nil
        else { return nil }
        return "Basic " + Data("\(entry.login ?? ""):\(entry.password ?? "")".utf8).base64EncodedString()
    }

    /// The request with the credentials of its URL's host; the URL's own and those of a header take precedence.
    ///
    /// As a header, they are sent to the origin of the URL only, and to no other after redirects.
    func authorizing(_ request: AttachmentRequest) -> AttachmentRequest {
        guard let address = try? WebAddress(request.source), address.basicAuthorization == nil,
            !request.headers.keys.contains(where: { $0.lowercased() == "authorization" }),
            let value = authorization(for: address.host)
        else { return request }
        var request = request
        request.headers["Authorization"] = value
        return request
    }
}

/// Splits a netrc file into words and quoted strings.
private struct NetrcTokens {
    private var rest: Substring.UnicodeScalarView
    private(set) var line = 1

    init(_ text: String) {
        rest = text[...].unicodeScalars
        if rest.first == "\u{FEFF}" { rest.removeFirst() }
    }

    private mutating func consume() -> Unicode.Scalar? {
        guard let next = rest.popFirst() else { return nil }
        if next == "\n" { line = line.adding(clamping: 1) }
        return next
    }

    /// The next token; nil at the end.
    mutating func next() throws(AttachPrepError) -> String? {
        while let scalar = rest.first {
            if scalar == "#" {
                while let next = rest.first, next != "\n" { _ = consume() }
            } else if scalar.properties.isWhitespace {
                _ = consume()
            } else {
                return scalar == "\"" ? try quoted() : word()
            }
        }
        return nil
    }

    mutating func value(of key: String) throws(AttachPrepError) -> String {
        let line = line
        guard let value = try value() else { throw .invalidNetrc("line \(line) has no value for \(key); add it.") }
        return value
    }

    /// A value may begin with "#".
    private mutating func value() throws(AttachPrepError) -> String? {
        while let scalar = rest.first {
            if !scalar.properties.isWhitespace { return scalar == "\"" ? try quoted() : word() }
            _ = consume()
        }
        return nil
    }

    private mutating func word() -> String {
        var word = String.UnicodeScalarView()
        while let scalar = rest.first, !scalar.properties.isWhitespace {
            word.append(scalar)
            _ = consume()
        }
        return String(word)
    }

    private mutating func quoted() throws(AttachPrepError) -> String {
        let line = line
        _ = consume()
        var text = String.UnicodeScalarView()
        while let scalar = consume() {
            switch scalar {
            case "\"": return String(text)
            case "\\":
                guard let escaped = consume() else { break }
                text.append(["n": "\n", "r": "\r", "t": "\t"][escaped] ?? escaped)
            default: text.append(scalar)
            }
        }
        throw .invalidNetrc("line \(line) has a quotation mark without its end; add it.")
    }

    /// A macro ends with an empty line.
    mutating func skipMacro() {
        var isLineEmpty = false
        while let scalar = consume() {
            if scalar == "\n", isLineEmpty { return }
            isLineEmpty = scalar == "\n" || (isLineEmpty && scalar == "\r")
        }
    }
}

extension AttachPrepError {
    fileprivate static func invalidNetrc(_ what: String) -> AttachPrepError {
        AttachPrepError(.requestInvalid, "The netrc file: \(what)")
    }
}

extension Limits {
    /// Bytes of a netrc file, which has a line for each host.
    package static let netrcBytesMax = 65_536
}
