#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// JetStream as its servers' API has it: requests in JSON on subjects below `$JS.API`.
///
/// The library's own JetStream calls hold a thread until the answer is there; a worker has hundreds of them under way.
package struct JetStream: Sendable {
    package let connection: NATSConnection

    package init(_ connection: NATSConnection) {
        self.connection = connection
    }

    /// What every answer of the API may be.
    private struct Refusal: Decodable {
        struct Fault: Decodable {
            var code: Int
            var err_code: Int?
            var description: String?

            func error(of subject: String) -> NATSError {
                .refused(
                    code: code, number: err_code ?? 0, text: description ?? "no text",
                    operation: JetStream.operation(subject))
            }
        }

        var error: Fault?
    }

    /// What a message asks for: an operation of the API without its prefix, else the subject.
    static func operation(_ subject: String) -> String {
        let prefix = "$JS.API."
        return subject.hasPrefix(prefix) ? String(subject.dropFirst(prefix.utf8.count)) : subject
    }

    /// Asks the API, and reads its answer.
    ///
    /// - Throws: `NATSError.refused` for an error in the answer.
    func ask<Answer: Decodable>(_ operation: String, _ body: some Encodable) async throws -> Answer {
        try await answer(to: OutgoingMessage("$JS.API.\(operation)", Array(try JSONEncoder().encode(body))))
    }

    func ask<Answer: Decodable>(_ operation: String) async throws -> Answer {
        try await answer(to: OutgoingMessage("$JS.API.\(operation)"))
    }

    private func answer<Answer: Decodable>(to message: OutgoingMessage) async throws -> Answer {
        try Self.read(try await connection.request(message), of: message)
    }

    private static func read<Answer: Decodable>(_ answer: NATSMessage, of message: OutgoingMessage) throws -> Answer {
        do {
            let data = Data(answer.bytes)
            if let fault = try JSONDecoder().decode(Refusal.self, from: data).error {
                throw fault.error(of: message.subject)
            }
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch let error as DecodingError {
            throw NATSError.unreadable(subject: message.subject, text: "\(error)")
        }
    }

    // MARK: Messages into streams

    /// What a stream says of a message: that it keeps it, or why not.
    private struct Acknowledgement: Decodable {
        var seq: UInt64?
        var error: Refusal.Fault?
    }

    /// Puts a message into the stream that its subject belongs to; returns when the stream has it on its disks.
    ///
    /// - Returns: its number there; nil when the last message of its subject is not the one that it names.
    @discardableResult
    package func publish(_ message: OutgoingMessage) async throws -> UInt64? {
        try Self.number(.success(try await connection.request(message)), of: message).get()
    }

    /// Puts messages into streams in their order, without waiting between them.
    package func publishAll(_ messages: [OutgoingMessage]) async -> [Result<UInt64?, any Error>] {
        let answers = await connection.requestAll(messages)
        return zip(answers, messages).map { Self.number($0, of: $1) }
    }

    private static func number(
        _ answer: Result<NATSMessage, any Error>, of message: OutgoingMessage
    ) -> Result<UInt64?, any Error> {
        do {
            let bytes = try answer.get().bytes
            if let number = PublishAnswer.number(in: bytes) { return .success(number) }
            let said = try JSONDecoder().decode(Acknowledgement.self, from: Data(bytes))
            if let fault = said.error {
                if PublishAnswer.isConflict(fault.err_code) { return .success(nil) }
                throw fault.error(of: message.subject)
            }
            guard let number = said.seq else {
                throw NATSError.unreadable(subject: message.subject, text: "neither a number nor an error")
            }
            return .success(number)
        } catch let error as DecodingError {
            return .failure(NATSError.unreadable(subject: message.subject, text: "\(error)"))
        } catch {
            return .failure(error)
        }
    }
}

extension OutgoingMessage {
    /// The same message, kept only if its subject's last message has that number, 0 for none at all.
    package func after(_ expected: UInt64?) -> OutgoingMessage {
        guard let expected else { return self }
        var message = self
        message.headers.append(("Nats-Expected-Last-Subject-Sequence", "\(expected)"))
        return message
    }
}
