import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file of tokens, one a line.
struct TokenFile: Sendable {
    let path: String

    init(_ path: String) {
        self.path = path
    }

    /// What changes when the file does; nil when it is not there.
    func stamp() -> FileStamp? { FileStamp(path) }

    func read() throws -> (tokens: [String], stamp: FileStamp?) {
        let stamp = stamp()
        guard let content = FileManager.default.contents(atPath: path), content.count <= Limits.tokenFileBytesMax
        else {
            throw AttachPrepError(
                .requestInvalid,
                "The file of --token-file (ATTACHPREP_TOKEN_FILE) cannot be read or has more than "
                    + "\(Limits.tokenFileBytesMax) bytes; give one token a line.",
                detail: path)
        }
        let tokens = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingPrefix(while: \.isWhitespace) }
            .map { String($0.prefix { !$0.isWhitespace }) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        try TokenRule.check(tokens, where: "A line of --token-file (ATTACHPREP_TOKEN_FILE)")
        return (tokens, stamp)
    }
}

/// What a token must be like.
enum TokenRule {
    /// - Throws: `request.invalid`; no token is part of the sentence.
    static func check(_ tokens: [String], where place: String) throws {
        guard tokens.count <= Limits.tokensMax else {
            throw AttachPrepError(.requestInvalid, "There are more than \(Limits.tokensMax) tokens.")
        }
        let sizes = Limits.tokenBytesMin...Limits.tokenBytesMax
        for token in tokens where !sizes.contains(token.utf8.count) || !token.utf8.allSatisfy(isAllowed) {
            throw AttachPrepError(
                .requestInvalid,
                "\(place) is not \(sizes.lowerBound) to \(sizes.upperBound) visible ASCII characters; "
                    + "openssl rand -hex 32 makes one.")
        }
    }

    /// What a header can carry in one word.
    private static func isAllowed(_ byte: UInt8) -> Bool { byte > 32 && byte < 127 }
}
