internal import AttachPrep
public import AttachPrepModel
internal import Crypto
internal import FoundationEssentials
internal import Linux
public import Logging
package import MediaTypes
internal import Synchronization

/// A signing secret in the format of Standard Webhooks: `whsec_` and base64 of 24 to 64 bytes.
///
/// Its bytes appear neither in errors nor in printed descriptions.
public struct WebhookSecret: Sendable, Hashable {
    private let bytes: [UInt8]

    /// - Parameter location: the source of the secret for error messages, such as "Secret 2 in …".
    /// - Throws: `request.invalid`, which names the location and the problem.
    public init(_ text: String, at location: String) throws(AttachPrepError) {
        guard text.hasPrefix(Self.prefix) else {
            throw Self.error(location, error: "does not begin with \(Self.prefix)")
        }
        guard let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))) else {
            throw Self.error(location, error: "is not base64 after \(Self.prefix)")
        }
        let sizes = Limits.webhookSecretBytesMin...Limits.webhookSecretBytesMax
        guard sizes.contains(data.count) else {
            throw Self.error(
                location, error: "has \(data.count) bytes and not \(sizes.lowerBound) to \(sizes.upperBound)")
        }
        bytes = Array(data)
    }

    func sign(_ content: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: bytes))
        return Data(code).base64EncodedString()
    }

    private static let prefix = "whsec_"

    private static func error(_ location: String, error: String) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid,
            "\(location) \(error); make one with: echo whsec_$(openssl rand -base64 32).")
    }
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "whsec_REDACTED" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The current signing secrets, which can be rotated while the service runs.
///
/// Every secret signs each webhook; a receiver needs one of them. To rotate: add the new secret first in the list, give
/// it to the receivers, then remove the old one.
public final class WebhookSecrets: Sendable {
    private struct State {
        var literals: [WebhookSecret]
        var file: String?
        var stamp: FileStamp?
        var fromFile: [WebhookSecret]
        /// Whether the error of the file was logged, which happens once per error.
        var isReported = false
    }

    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameters:
    ///   - literals: values of the environment variable, each with one secret or several separated by commas or white
    ///     space.
    ///   - file: a file with one secret per line, read again when it changes; empty lines and lines that begin with `#`
    ///     are ignored.
    /// - Throws: `request.invalid` for an invalid secret or file.
    public init(literals: [String] = [], file: String? = nil, logger: Logger) throws(AttachPrepError) {
        let words = literals.flatMap { $0.split { $0 == "," || $0.isWhitespace } }.map(String.init)
        let secrets = try Self.read(words, in: "the list")
        self.logger = logger
        let stamp = file.flatMap { FileStamp($0) }
        let fromFile = try file.map(Self.read(file:)) ?? []
        state = Mutex(State(literals: secrets, file: file, stamp: stamp, fromFile: fromFile))
    }

    /// The secrets in order; the first one signs first.
    ///
    /// While a changed file cannot be read, its last secrets stay in use.
    public var current: [WebhookSecret] {
        state.withLock { state in
            guard let file = state.file else { return state.literals }
            let stamp = FileStamp(file)
            if stamp != state.stamp || (stamp == nil && !state.isReported) { renew(&state, stamp: stamp, file: file) }
            return state.literals + state.fromFile
        }
    }

    /// Replaces list and file by those of `others`, which were read later.
    public func replace(with others: WebhookSecrets) {
        let new = others.state.withLock { $0 }
        state.withLock { $0 = new }
    }

    private func renew(_ state: inout State, stamp: FileStamp?, file: String) {
        state.stamp = stamp
        do {
            state.fromFile = try Self.read(file: file)
            state.isReported = false
            logger.notice("webhook secrets reloaded", metadata: ["secrets": .stringConvertible(state.fromFile.count)])
        } catch {
            state.isReported = true
            logger.error("webhook secrets not reloaded; the old ones stay in use", metadata: ["error": "\(error)"])
        }
    }

    private static func read(file: String) throws(AttachPrepError) -> [WebhookSecret] {
        guard let entries = try? SmallFile.entries(of: file, bytesMax: fileBytesMax) else {
            throw AttachPrepError(
                .requestInvalid,
                "The file \(file) is missing, unreadable or larger than \(fileBytesMax.grouped) bytes; write one "
                    + "secret a line.")
        }
        guard !entries.isEmpty else {
            throw AttachPrepError(
                .requestInvalid, "The file \(file) contains no secret; write one a line.")
        }
        try checkCount(entries.count, in: file)
        return try entries.map { entry throws(AttachPrepError) in
            try WebhookSecret(entry.text.filter { !$0.isWhitespace }, at: "The secret in line \(entry.line) of \(file)")
        }
    }

    private static func read(_ texts: [String], in location: String) throws(AttachPrepError) -> [WebhookSecret] {
        try checkCount(texts.count, in: location)
        var secrets: [WebhookSecret] = []
        for (index, text) in texts.enumerated() {
            secrets.append(try WebhookSecret(text, at: "Secret \(index + 1) in \(location)"))
        }
        return secrets
    }

    private static func checkCount(_ count: Int, in location: String) throws(AttachPrepError) {
        guard count <= Limits.webhookSecretsMax else {
            throw AttachPrepError(
                .requestInvalid,
                "There are \(count) secrets in \(location), over the limit of \(Limits.webhookSecretsMax).")
        }
    }

    /// The size of the largest number of secrets, and as much again for comments.
    private static let fileBytesMax = 16_384
}

extension Limits {
    /// Bytes of a signing secret (Standard Webhooks: 24 to 64).
    static let webhookSecretBytesMin = 24
    static let webhookSecretBytesMax = 64
    /// Concurrent secrets: a rotation needs two until receivers have changed.
    package static let webhookSecretsMax = 16
}
