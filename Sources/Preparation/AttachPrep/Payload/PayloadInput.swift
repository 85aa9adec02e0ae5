public import AttachPrepModel
import PushPayload
public import RichPush

/// The input of a rewriting: one payload, or an array of payloads such as Expo's push messages.
public struct PayloadInput: Sendable {
    /// A payload, and its index in the array; nil for a single payload.
    public struct Message: Sendable {
        public let index: Int?
        /// Nil for a message of an array without media, which stays unchanged.
        public let rewriter: PayloadRewriter?
        fileprivate let bytes: [UInt8]

        /// The beginning of sentences about the message: empty, or its position.
        fileprivate var prefix: String { index.map { "[\($0)]: " } ?? "" }
    }

    public let messages: [Message]
    private let array: PayloadArray?

    /// Parses the input and finds its media.
    ///
    /// - Throws: `payload.invalid`, `payload.too_large`; `payload.no_media` when no message has media.
    public init(_ bytes: [UInt8], search: MediaSearch = MediaSearch()) throws {
        array = try AttachPrepError.converting { try PayloadArray(bytes) }
        guard let array else {
            messages = [Message(index: nil, rewriter: try PayloadRewriter(bytes, search: search), bytes: bytes)]
            return
        }
        var withoutMedia: AttachPrepError?
        messages = try array.messages.enumerated().map { index, range in
            let bytes = Array(array.bytes[range])
            do {
                return Message(index: index, rewriter: try PayloadRewriter(bytes, search: search), bytes: bytes)
            } catch let error as AttachPrepError where error.code == .payloadNoMedia {
                withoutMedia = withoutMedia ?? error
                return Message(index: index, rewriter: nil, bytes: bytes)
            } catch let error as AttachPrepError {
                throw error.prefixed("[\(index)]: ")
            }
        }
        guard messages.allSatisfy({ $0.rewriter == nil }) else { return }
        throw withoutMedia ?? AttachPrepError(.payloadInvalid, "The array has no payloads; add at least one.")
    }

    public var isArray: Bool { array != nil }

    /// The number of media items.
    public var mediaCount: Int {
        messages.reduce(0) { $0 + ($1.rewriter?.media.items.count ?? 0) }
    }

    /// Rewrites each message. Equal requests of all messages are prepared once.
    ///
    /// - Throws: `payload.too_large`, and what `prepare` throws.
    /// - SeeAlso: `PayloadRewriter.rewritten`
    public func rewritten(
        applying template: AttachmentRequest, receipt: PushReceipt? = nil, addsNeutralObject: Bool = true,
        prepare: @escaping @Sendable (AttachmentRequest, Message) async throws -> Manifest
    ) async throws -> PayloadResult {
        let shared = SharedPreparations()
        let results = try await messages.concurrentlyMapped(atMost: Limits.payloadMessagesAtOnce) { message in
            try await message.rewritten(template, receipt: receipt, addsNeutralObject: addsNeutralObject) { request in
                try await shared.manifest(of: request) { try await prepare($0, message) }
            }
        }
        guard let array else { return results[0] }
        var whole = PayloadResult(
            payload: array.replacing(messages: results.map(\.payload)), manifests: [], warnings: [], isComplete: true)
        for result in results {
            for manifest in result.manifests where !whole.manifests.contains(manifest) {
                whole.manifests.append(manifest)
            }
            whole.warnings.append(contentsOf: result.warnings)
            whole.isComplete = whole.isComplete && result.isComplete
        }
        return whole
    }
}

extension PayloadInput.Message {
    fileprivate func rewritten(
        _ template: AttachmentRequest, receipt: PushReceipt?, addsNeutralObject: Bool,
        _ prepare: @escaping @Sendable (AttachmentRequest) async throws -> Manifest
    ) async throws -> PayloadResult {
        guard let rewriter else {
            return PayloadResult(payload: bytes, manifests: [], warnings: [], isComplete: true)
        }
        var template = template
        if let id = template.id, let index { template.id = "\(id)-\(index)" }
        do {
            var result = try await rewriter.rewritten(
                applying: template, receipt: receipt, addsNeutralObject: addsNeutralObject, prepare: prepare)
            result.warnings = result.warnings.map { PayloadWarning($0.code, "\(prefix)\($0.message)", level: $0.level) }
            return result
        } catch let error as AttachPrepError {
            throw error.prefixed(prefix)
        }
    }
}

extension AttachPrepError {
    /// The same error with the position of a message before its sentence.
    func prefixed(_ prefix: String) -> AttachPrepError {
        AttachPrepError(code, "\(prefix)\(message)", detail: detail, isRetryable: isRetryable)
    }
}

extension Sequence where Element: Sendable {
    /// Transforms the elements concurrently, at most `count` at a time; the results are in the order of the elements.
    package func concurrentlyMapped<Result: Sendable>(
        atMost count: Int, _ transform: @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var results: [Int: Result] = [:]
            for (index, element) in enumerated() {
                if index >= count, let (done, result) = try await group.next() { results[done] = result }
                group.addTask { (index, try await transform(element)) }
            }
            for try await (done, result) in group { results[done] = result }
            return results.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

extension Limits {
    /// Messages of an array that are rewritten at a time.
    static let payloadMessagesAtOnce = 32
}
