import AttachPrep
import AttachPrepModel
import Crypto
import FoundationEssentials
import Linux
public import Logging
package import MediaTypes
import Synchronization

/// The bearer tokens of a service, from a list and from a file that is reloaded when it changes.
///
/// A token file has one token a line, which may go on with the name and the roles of its caller; empty lines and lines
/// that begin with # are ignored. Tokens are stored as SHA-256 digests, and each check compares all of them in constant
/// time.
public final class AccessTokens: Sendable {
    private struct State {
        var literal: [Known] = []
        var file: TokenFile?
        var ofFile: [Known] = []
        var stamp: FileStamp?

        var all: [Known] { literal + ofFile }
    }

    private struct Known {
        let digest: Digest
        let caller: Caller

        /// - Throws: `request.invalid`; the message contains no token.
        init(_ line: TokenLine) throws {
            try line.naming { try AccessTokens.check(line.token) }
            let digest = AccessTokens.digest(line.token)
            self.digest = digest
            caller = try line.naming { try Caller(words: line.words, fallback: AccessTokens.keyID(of: digest)) }
        }
    }

    private typealias Digest = [UInt8]

    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter file: the path of a token file.
    /// - Throws: `request.invalid` for a token that is too short or too long, or a file that cannot be read.
    public init(_ tokens: [String] = [], file: String? = nil, logger: Logger) throws {
        try Self.check(count: tokens.count)
        let literal = try tokens.map { try Known(TokenLine($0)) }
        self.logger = logger
        let file = file.map(TokenFile.init(path:))
        let read = try file?.read()
        let ofFile = try read?.lines.map { try Known($0) } ?? []
        state.withLock { state in
            state = State(literal: literal, file: file)
            state.ofFile = ofFile
            state.stamp = read?.stamp
        }
    }

    /// Whether requests need a token. An empty token file counts: then every request is rejected.
    public var isRequired: Bool { state.withLock { !$0.literal.isEmpty || $0.file != nil } }

    /// Replaces list and file by those of `others`, which were read later.
    func replace(with others: AccessTokens) {
        let new = others.state.withLock { $0 }
        state.withLock { $0 = new }
        logger.notice("tokens loaded", metadata: ["tokens": .stringConvertible(new.all.count)])
    }

    /// Reloads the file; if it is invalid, the error is logged and the previous tokens stay valid.
    public func reload() {
        guard let file = state.withLock(\.file) else { return }
        do {
            let read = try file.read()
            let ofFile = try read.lines.map { try Known($0) }
            state.withLock { state in
                state.ofFile = ofFile
                state.stamp = read.stamp
            }
            logger.notice("token file loaded", metadata: ["tokens": .stringConvertible(ofFile.count)])
        } catch {
            state.withLock { $0.stamp = file.stamp }
            logger.error("invalid token file, previous tokens stay valid", metadata: ["error": "\(error)"])
        }
    }

    /// The caller with a token; nil for an invalid token.
    func caller(showing token: String) -> Caller? {
        let shown = Self.digest(token)
        var found: Caller?
        for known in state.withLock(\.all) where shown.equalsInConstantTime(known.digest) { found = known.caller }
        return found
    }

    /// Identifies a token without disclosing its digest, which is the signing key; nil for an invalid token.
    func keyID(showing token: String) -> String? {
        caller(showing: token) == nil ? nil : Self.keyID(of: Self.digest(token))
    }

    /// HMAC-SHA256 keyed with the full digest of a token; nil if that token is no longer valid.
    func signature(of content: String, keyID: String) -> [UInt8]? {
        guard let known = token(keyID: keyID) else { return nil }
        return Array(
            HMAC<SHA256>.authenticationCode(for: Data(content.utf8), using: SymmetricKey(data: known.digest)))
    }

    /// The caller whose token signed `content`; nil if `text`, in lowercase hexadecimal, is not that signature.
    func signer(of content: String, with text: String, keyID: String) -> Caller? {
        guard let right = signature(of: content, keyID: keyID),
            text.utf8.equalsInConstantTime(Array(right.hexadecimal.utf8))
        else { return nil }
        return token(keyID: keyID)?.caller
    }

    private func token(keyID: String) -> Known? {
        state.withLock(\.all).first { Self.keyID(of: $0.digest) == keyID }
    }

    /// Reloads the file if its stamp has changed; the service calls this once a second.
    func refresh() {
        let (file, stamp) = state.withLock { ($0.file, $0.stamp) }
        guard let file, file.stamp != stamp else { return }
        reload()
    }

    /// The first half of the digest in hexadecimal.
    private static func keyID(of digest: Digest) -> String { digest.prefix(16).hexadecimal }

    private static func digest(_ token: String) -> Digest {
        Array(SHA256.hash(data: Data(token.utf8)))
    }
}

/// A line of a token file: the token, and after white space the words of its caller.
struct TokenLine: Sendable {
    let token: String
    let words: String
    /// Where it is, for messages: `line 3 of /etc/attachprep/tokens`; nil for a token that is not from a file.
    private let location: String?

    init(_ line: String, at location: String? = nil) {
        token = String(line.prefix { !$0.isWhitespace })
        words = String(line.drop { !$0.isWhitespace })
        self.location = location
    }

    /// Adds where the line is to the message of an error.
    func naming<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as AttachPrepError {
            guard let location else { throw error }
            throw AttachPrepError(error.code, "In \(location): \(error.message)", detail: error.detail)
        }
    }
}

/// A file with one token a line; after white space a line may go on with `name=`, `roles=` and a comment (`Caller`).
package struct TokenFile: Sendable {
    let path: String

    /// Nil if the file cannot be read or is larger than `tokenFileBytesMax`.
    package static func tokens(in path: String) -> [String]? { lines(in: path)?.map(\.token) }

    private static func lines(in path: String) -> [TokenLine]? {
        (try? SmallFile.entries(of: path, bytesMax: Limits.tokenFileBytesMax))?.map {
            TokenLine($0.text, at: "line \($0.line) of \(path)")
        }
    }

    /// Identifies the version of the file; nil if it does not exist.
    var stamp: FileStamp? { FileStamp(path) }

    func read() throws -> (lines: [TokenLine], stamp: FileStamp?) {
        let stamp = stamp
        guard let lines = TokenFile.lines(in: path) else {
            throw AttachPrepError(
                .requestInvalid,
                "The file \(path) is missing, unreadable or larger than \(Limits.tokenFileBytesMax) bytes; write one "
                    + "token a line.")
        }
        try AccessTokens.check(count: lines.count)
        return (lines, stamp)
    }
}

extension AccessTokens {
    /// - Throws: `request.invalid`.
    fileprivate static func check(count: Int) throws {
        guard count <= Limits.tokensMax else {
            throw AttachPrepError(.requestInvalid, "\(count) tokens exceed the limit of \(Limits.tokensMax).")
        }
    }

    /// Validates the format of a token.
    ///
    /// - Throws: `request.invalid`; the message does not contain the token.
    fileprivate static func check(_ token: String) throws {
        let sizes = Limits.tokenBytesMin...Limits.tokenBytesMax
        // Visible ASCII without the space, which ends the token in a header.
        guard sizes.contains(token.utf8.count), token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw AttachPrepError(
                .requestInvalid,
                "A token is not \(sizes.lowerBound) to \(sizes.upperBound) visible ASCII characters; "
                    + "generate one with openssl rand -hex 32.")
        }
    }
}

extension Limits {
    /// Bytes of a token: shorter ones can be guessed, longer ones are a mistake.
    static let tokenBytesMin = 16
    package static let tokenBytesMax = 512
    /// Number of tokens: each request is compared with all of them.
    static let tokensMax = 100
    /// Bytes of a token file: the maximum number of the longest tokens, and comments.
    static let tokenFileBytesMax = 262_144
}
