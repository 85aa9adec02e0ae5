import AttachPrep
import AttachPrepModel
import Crypto
import FoundationEssentials
import Linux
public import Logging
package import RichPush
import Synchronization

/// The bearer tokens of a service, from a list and from a file that is reloaded when it changes.
///
/// A token file has one token a line; empty lines and lines that begin with # are ignored. Tokens are stored as SHA-256
/// digests, and each check compares all of them in constant time.
public final class AccessTokens: Sendable {
    private struct State {
        var literal: [Digest] = []
        var file: TokenFile?
        var ofFile: [Digest] = []
        var stamp: FileStamp?

        var all: [Digest] { literal + ofFile }
    }

    private typealias Digest = [UInt8]

    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter file: the path of a token file.
    /// - Throws: `request.invalid` for a token that is too short or too long, or a file that cannot be read.
    public init(_ tokens: [String] = [], file: String? = nil, logger: Logger) throws {
        try Self.check(tokens)
        self.logger = logger
        let file = file.map(TokenFile.init(path:))
        let read = try file?.read()
        state.withLock { state in
            state = State(literal: tokens.map(Self.digest), file: file)
            state.ofFile = read?.tokens.map(Self.digest) ?? []
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
            state.withLock { state in
                state.ofFile = read.tokens.map(Self.digest)
                state.stamp = read.stamp
            }
            logger.notice("token file loaded", metadata: ["tokens": .stringConvertible(read.tokens.count)])
        } catch {
            state.withLock { $0.stamp = file.stamp }
            logger.error("invalid token file, previous tokens stay valid", metadata: ["error": "\(error)"])
        }
    }

    /// The caller's name for a token: the first half of its digest in hexadecimal; nil for an invalid token.
    func caller(showing token: String) -> String? {
        let shown = Self.digest(token)
        let known = state.withLock(\.all)
        var isKnown = false
        for digest in known where shown.equalsInConstantTime(digest) { isKnown = true }
        return isKnown ? Self.name(of: shown) : nil
    }

    /// HMAC-SHA256 keyed with the full digest of a caller's token; nil if that token is no longer valid.
    func signature(of content: String, by caller: String) -> [UInt8]? {
        let known = state.withLock(\.all)
        guard let digest = known.first(where: { Self.name(of: $0) == caller }) else { return nil }
        return Array(HMAC<SHA256>.authenticationCode(for: Data(content.utf8), using: SymmetricKey(data: digest)))
    }

    /// Whether `text` is a caller's signature of `content`, in lowercase hexadecimal.
    func signed(_ content: String, with text: String, by caller: String) -> Bool {
        guard let right = signature(of: content, by: caller) else { return false }
        return text.utf8.equalsInConstantTime(Array(right.hexadecimal.utf8))
    }

    /// Reloads the file if its stamp has changed; the service calls this once a second.
    func refresh() {
        let (file, stamp) = state.withLock { ($0.file, $0.stamp) }
        guard let file, file.stamp != stamp else { return }
        reload()
    }

    /// The first half of the digest: identifies the token without disclosing the digest, which is the signing key.
    private static func name(of digest: Digest) -> String { digest.prefix(16).hexadecimal }

    private static func digest(_ token: String) -> Digest {
        Array(SHA256.hash(data: Data(token.utf8)))
    }
}

/// A file with one token a line; after white space a line may go on with a comment.
package struct TokenFile: Sendable {
    let path: String

    /// Nil if the file cannot be read or is larger than `tokenFileBytesMax`.
    package static func tokens(in path: String) -> [String]? {
        (try? SmallFile.entries(of: path, bytesMax: Limits.tokenFileBytesMax))?
            .map { String($0.prefix { !$0.isWhitespace }) }
    }

    /// Identifies the version of the file; nil if it does not exist.
    var stamp: FileStamp? { FileStamp(path) }

    func read() throws -> (tokens: [String], stamp: FileStamp?) {
        let stamp = stamp
        guard let tokens = TokenFile.tokens(in: path) else {
            throw AttachPrepError(
                .requestInvalid,
                "The file \(path) is missing, unreadable or larger than \(Limits.tokenFileBytesMax) bytes; write one "
                    + "token a line.")
        }
        try AccessTokens.check(tokens)
        return (tokens, stamp)
    }
}

extension AccessTokens {
    /// Validates the format of tokens.
    ///
    /// - Throws: `request.invalid`; the message contains no token.
    fileprivate static func check(_ tokens: [String]) throws {
        guard tokens.count <= Limits.tokensMax else {
            throw AttachPrepError(.requestInvalid, "\(tokens.count) tokens exceed the limit of \(Limits.tokensMax).")
        }
        let sizes = Limits.tokenBytesMin...Limits.tokenBytesMax
        // Visible ASCII without the space, which ends the token in a header.
        for token in tokens where !sizes.contains(token.utf8.count) || !token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) {
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
