import AttachPrep
import Crypto
public import Logging
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The tokens that callers may show: from a list, and from a file that may change while the service runs.
///
/// A token file has one a line; empty lines and lines that begin with # are passed over. Tokens are kept and compared
/// as SHA-256 digests, all of them each time: how long it takes tells nothing.
public final class AccessTokens: Sendable {
    private struct State {
        var ofFile: [Digest] = []
        var stamp: FileStamp?
    }

    private typealias Digest = [UInt8]

    private let literal: [Digest]
    private let file: TokenFile?
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter file: the path of a token file.
    /// - Throws: `request.invalid` for a token that is too short or too long, or a file that cannot be read.
    public init(_ tokens: [String] = [], file: String? = nil, logger: Logger) throws {
        try TokenRule.check(tokens, where: "A token of ATTACHPREP_TOKENS")
        literal = tokens.map(Self.digest)
        self.file = file.map(TokenFile.init)
        self.logger = logger
        guard let read = try self.file?.read() else { return }
        state.withLock { $0 = State(ofFile: read.tokens.map(Self.digest), stamp: read.stamp) }
    }

    /// Whether tokens are asked for at all; a file counts even when it is empty: then nobody gets in.
    public var isRequired: Bool { !literal.isEmpty || file != nil }

    /// Reads the file again; a broken one is logged, and the tokens before it hold.
    public func reload() {
        guard let file else { return }
        do {
            let read = try file.read()
            state.withLock { state in
                state.ofFile = read.tokens.map(Self.digest)
                state.stamp = read.stamp
            }
            logger.notice("The token file was read.", metadata: ["tokens": "\(read.tokens.count)"])
        } catch {
            state.withLock { $0.stamp = file.stamp() }
            logger.error("The token file cannot be used; the tokens before it hold.", metadata: ["error": "\(error)"])
        }
    }

    /// The caller that a token stands for: a part of its digest; nil for a token that is not one of ours.
    func caller(showing token: String) -> String? {
        let shown = Self.digest(token)
        let known = literal + state.withLock(\.ofFile)
        var isKnown: UInt8 = 0
        for digest in known { isKnown |= Self.agrees(shown, digest) }
        return isKnown == 1 ? Self.name(of: shown) : nil
    }

    /// HMAC-SHA256 with a caller's whole digest, of which his name tells a half; nil for one who has no token any more.
    func signature(of content: String, by caller: String) -> [UInt8]? {
        let known = literal + state.withLock(\.ofFile)
        guard let digest = known.first(where: { Self.name(of: $0) == caller }) else { return nil }
        return Array(HMAC<SHA256>.authenticationCode(for: Data(content.utf8), using: SymmetricKey(data: digest)))
    }

    /// Whether that is a caller's signature, in lower-case hexadecimal.
    func signed(_ content: String, with text: String, by caller: String) -> Bool {
        guard let right = signature(of: content, by: caller) else { return false }
        return Self.agrees(Array(text.utf8), Array(right.hexadecimal.utf8)) == 1
    }

    /// Reads the file again when it is another one than before; the service asks once a second.
    func refresh() {
        guard let file, file.stamp() != state.withLock(\.stamp) else { return }
        reload()
    }

    /// Half of it: a name that tells nobody the digest.
    private static func name(of digest: Digest) -> String { digest.prefix(16).hexadecimal }

    private static func digest(_ token: String) -> Digest {
        Array(SHA256.hash(data: Data(token.utf8)))
    }

    /// 1 when both are the same, 0 else, in the same time.
    private static func agrees(_ left: Digest, _ right: Digest) -> UInt8 {
        var difference: UInt8 = left.count == right.count ? 0 : 1
        for (one, other) in zip(left, right) { difference |= one ^ other }
        return difference == 0 ? 1 : 0
    }
}
