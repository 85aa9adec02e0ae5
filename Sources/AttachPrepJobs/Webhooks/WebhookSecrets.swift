internal import AttachPrep
public import Logging
public import RichPush
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The secrets that sign webhooks now, so that they can be changed while the service runs.
///
/// Each signs; a receiver needs to know one of them. To change a secret: put the new one first, give it to the
/// receivers, take the old one out.
public final class WebhookSecrets: Sendable {
    private struct State {
        var stamp: FileStamp?
        var fromFile: [WebhookSecret]
        /// Whether the file's fault was reported, which is done once for each.
        var isReported = false
    }

    private let literals: [WebhookSecret]
    private let file: String?
    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameters:
    ///   - literals: as a variable holds them: each entry one secret, or several with commas or spaces between.
    ///   - file: one a line, read again when it changes; empty lines and those that begin with `#` do not count.
    /// - Throws: `request.invalid` for a secret or a file that is not as it should be.
    public init(literals: [String] = [], file: String? = nil, logger: Logger) throws(AttachPrepError) {
        let words = literals.flatMap { $0.split { $0 == "," || $0.isWhitespace } }.map(String.init)
        self.literals = try Self.read(words, in: "ATTACHPREP_WEBHOOK_SECRETS")
        self.file = file
        self.logger = logger
        let stamp = file.flatMap { FileStamp($0) }
        state = Mutex(State(stamp: stamp, fromFile: try file.map(Self.read(file:)) ?? []))
    }

    /// In their order: the first one signs first.
    ///
    /// While a file that was changed cannot be read, its last secrets stay in use.
    public var current: [WebhookSecret] {
        guard let file else { return literals }
        return literals
            // Bounded: lists, not numbers.
            + state.withLock { state in
                let stamp = FileStamp(file)
                if stamp != state.stamp || (stamp == nil && !state.isReported) { renew(&state, stamp, file) }
                return state.fromFile
            }
    }

    private func renew(_ state: inout State, _ stamp: FileStamp?, _ file: String) {
        state.stamp = stamp
        do {
            state.fromFile = try Self.read(file: file)
            state.isReported = false
            logger.notice("webhook secrets were read again", metadata: ["secrets": "\(state.fromFile.count)"])
        } catch {
            state.isReported = true
            logger.error("webhook secrets stay as they were", metadata: ["error": "\(error)"])
        }
    }

    private static func read(file: String) throws(AttachPrepError) -> [WebhookSecret] {
        guard let data = FileManager.default.contents(atPath: file), data.count <= fileBytesMax else {
            throw AttachPrepError(
                .requestInvalid,
                "The file of webhook secrets cannot be read, or is longer than \(fileBytesMax.grouped) bytes; "
                    + "correct --webhook-secret-file.")
        }
        let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard !lines.isEmpty else {
            throw AttachPrepError(
                .requestInvalid, "The file of webhook secrets holds none; correct --webhook-secret-file.")
        }
        return try read(lines, in: "the file of webhook secrets")
    }

    private static func read(_ texts: [String], in place: String) throws(AttachPrepError) -> [WebhookSecret] {
        guard texts.count <= Limits.webhookSecretsMax else {
            throw AttachPrepError(
                .requestInvalid,
                "There are \(texts.count) secrets in \(place), over the limit of \(Limits.webhookSecretsMax).")
        }
        var secrets: [WebhookSecret] = []
        for (index, text) in texts.enumerated() {
            secrets.append(try WebhookSecret(text, at: "Secret \(index + 1) in \(place)"))
        }
        return secrets
    }

    /// As many secrets as there may be, and as much again of comments.
    private static let fileBytesMax = 16_384
}
