internal import FoundationEssentials
internal import SafeArithmetic

/// A client of the JetStream API: JSON requests on subjects below `$JS.API`.
///
/// The JetStream calls of libnats are not used: each blocks a thread until its answer arrives, and a worker has
/// hundreds of requests in flight.
package struct JetStream: Sendable {
    package let connection: NATSConnection

    package init(_ connection: NATSConnection) {
        self.connection = connection
    }

    /// The error that any answer of the API may contain.
    private struct ErrorReply: Decodable {
        struct APIError: Decodable {
            var code: Int
            var err_code: Int?
            var description: String?

            func error(of subject: String) -> NATSError {
                .apiError(
                    code: code, errorCode: err_code ?? 0, text: description ?? "no description",
                    operation: JetStream.operation(subject))
            }
        }

        var error: APIError?
    }

    /// The operation for error texts: the API subject without its prefix, or the whole subject of another message.
    static func operation(_ subject: String) -> String {
        let prefix = "$JS.API."
        return subject.hasPrefix(prefix) ? String(subject.dropFirst(prefix.utf8.count)) : subject
    }

    /// Calls an operation of the API and decodes its answer.
    ///
    /// - Throws: `NATSError.apiError` for an error in the answer, `NATSError.unreadable` for an invalid one.
    func request<Answer: Decodable>(_ operation: String, _ body: some Encodable) async throws -> Answer {
        try await response(to: OutgoingMessage("$JS.API.\(operation)", Array(try JSONEncoder().encode(body))))
    }

    func request<Answer: Decodable>(_ operation: String) async throws -> Answer {
        try await response(to: OutgoingMessage("$JS.API.\(operation)"))
    }

    private func response<Answer: Decodable>(to message: OutgoingMessage) async throws -> Answer {
        try Self.read(try await connection.request(message), of: message)
    }

    private static func read<Answer: Decodable>(_ answer: NATSMessage, of message: OutgoingMessage) throws -> Answer {
        do {
            let data = Data(answer.bytes)
            if let apiError = try JSONDecoder().decode(ErrorReply.self, from: data).error {
                throw apiError.error(of: message.subject)
            }
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch let error as DecodingError {
            throw NATSError.unreadable(subject: message.subject, text: "\(error)")
        }
    }

    // MARK: Publishing

    /// A stream's answer to a published message: its sequence number or an error.
    private struct PublishReply: Decodable {
        var seq: UInt64?
        var error: ErrorReply.APIError?
    }

    /// Publishes a message into the stream of its subject; returns when the stream has stored it on disk.
    ///
    /// - Returns: Its sequence number; nil when the subject's last message is not the expected one.
    @discardableResult
    package func publish(_ message: OutgoingMessage) async throws -> UInt64? {
        try Self.sequence(.success(try await connection.request(message)), of: message).get()
    }

    /// Publishes messages in order, without waiting between them. Results are those of `publish(_:)`.
    package func publishAll(_ messages: [OutgoingMessage]) async -> [Result<UInt64?, any Error>] {
        let answers = await connection.requestAll(messages)
        return zip(answers, messages).map { Self.sequence($0, of: $1) }
    }

    private static func sequence(
        _ answer: Result<NATSMessage, any Error>, of message: OutgoingMessage
    ) -> Result<UInt64?, any Error> {
        do {
            let bytes = try answer.get().bytes
            if let sequence = PublishAck.sequence(in: bytes) { return .success(sequence) }
            let reply = try JSONDecoder().decode(PublishReply.self, from: Data(bytes))
            if let apiError = reply.error {
                if PublishAck.isConflict(apiError.err_code) { return .success(nil) }
                throw apiError.error(of: message.subject)
            }
            guard let sequence = reply.seq else {
                throw NATSError.unreadable(subject: message.subject, text: "neither a sequence number nor an error")
            }
            return .success(sequence)
        } catch let error as DecodingError {
            return .failure(NATSError.unreadable(subject: message.subject, text: "\(error)"))
        } catch {
            return .failure(error)
        }
    }
}

extension OutgoingMessage {
    /// The same message, stored only if its subject's last message has this sequence number, or if the subject has no
    /// message for 0; nil adds no condition.
    package func after(_ expected: UInt64?) -> OutgoingMessage {
        guard let expected else { return self }
        var message = self
        message.headers.append(("Nats-Expected-Last-Subject-Sequence", "\(expected)"))
        return message
    }
}

/// A stream leader's acknowledgment of a stored message: `{"stream":"KV_jobs","seq":12}`. nats-server before 2.12
/// writes a space after the comma.
package enum PublishAck {
    /// Reads the sequence number without a JSON parser, if the answer has exactly the form that servers write. Parsing
    /// took longer than all other handling of an answer, and each job has four answers.
    ///
    /// - Returns: Nil for any other text, such as an error, other members or other white space.
    package static func sequence(in bytes: [UInt8]) -> UInt64? {
        var rest = bytes[...]
        guard consume(opening, from: &rest), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        // Names with an escape are left to the parser.
        guard !rest[..<end].contains(UInt8(ascii: "\\")) else { return nil }
        rest = rest[end...]
        guard consume(quoteAndComma, from: &rest) else { return nil }
        if rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        guard consume(member, from: &rest), rest.popLast() == UInt8(ascii: "}"), let first = rest.first,
            rest.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        // JSON has no leading zeros.
        if first == UInt8(ascii: "0"), rest.count > 1 { return nil }
        return UInt64(String(decoding: rest, as: UTF8.self))
    }

    /// Whether the JetStream error code means that the subject's last message is not the expected one.
    package static func isConflict(_ errorCode: Int?) -> Bool {
        errorCode == NATSError.APIErrorCode.wrongLastSequence
            || errorCode == NATSError.APIErrorCode.wrongLastSequenceUnderWay
    }

    private static let opening = Array(#"{"stream":""#.utf8)
    private static let quoteAndComma = Array(#"","#.utf8)
    private static let member = Array(#""seq":"#.utf8)

    private static func consume(_ start: [UInt8], from rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: start) else { return false }
        rest = rest.dropFirst(start.count)
        return true
    }
}

struct StreamMessage: Sendable, Hashable {
    var sequence: UInt64
    /// Its header lines; empty without headers.
    var headers: String
    var bytes: [UInt8]
}

extension JetStream {
    private struct LastMessageRequest: Encodable {
        var last_by_subj: String
    }

    private struct FoundMessage: Decodable {
        struct Message: Decodable {
            var seq: UInt64
            var data: String?
            var hdrs: String?
        }

        var message: Message
    }

    /// The last message on a subject; nil when there is none.
    ///
    /// Read from the stream's leader, so never older than a message that was read or written before.
    func last(on subject: String, of name: String) async throws -> StreamMessage? {
        do {
            let found: FoundMessage = try await request(
                "STREAM.MSG.GET.\(name)", LastMessageRequest(last_by_subj: subject))
            return StreamMessage(
                sequence: found.message.seq, headers: String(decoding: Self.bytes(found.message.hdrs), as: UTF8.self),
                bytes: Self.bytes(found.message.data))
        } catch let error as NATSError where error.hasErrorCode(NATSError.APIErrorCode.messageNotFound) {
            return nil
        }
    }

    private struct NextMessageRequest: Encodable {
        var seq: UInt64
        var next_by_subj: String
    }

    /// The sequence number of the first message after `sequence` on matching subjects, from the stream's leader; nil
    /// when there is none.
    package func next(after sequence: UInt64, on subjects: String, of name: String) async throws -> UInt64? {
        do {
            let message = NextMessageRequest(seq: sequence.adding(clamping: 1), next_by_subj: subjects)
            let found: FoundMessage = try await request("STREAM.MSG.GET.\(name)", message)
            return found.message.seq
        } catch let error as NATSError where error.hasErrorCode(NATSError.APIErrorCode.messageNotFound) {
            return nil
        }
    }

    private struct DeleteMessageRequest: Encodable {
        var seq: UInt64
        var no_erase = true
    }

    private struct Removal: Decodable {
        var success: Bool
    }

    func remove(_ sequence: UInt64, of name: String) async throws {
        do {
            let _: Removal = try await request("STREAM.MSG.DELETE.\(name)", DeleteMessageRequest(seq: sequence))
        } catch NATSError.apiError(_, NATSError.APIErrorCode.messageNotRemoved, "no message found", _) {
            // Already removed, or replaced by a later message of its subject. Only the text tells this from other
            // failures: all have the same error code.
        }
    }

    private static func bytes(_ text: String?) -> [UInt8] {
        Array(text.flatMap { Data(base64Encoded: $0) } ?? Data())
    }
}
