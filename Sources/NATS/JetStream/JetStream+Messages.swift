internal import SafeArithmetic

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A message as a stream has it.
struct StreamMessage: Sendable, Hashable {
    /// Its number in the stream.
    var number: UInt64
    /// Its header lines; empty when it has none.
    var headers: String
    var bytes: [UInt8]
}

extension JetStream {
    private struct LastWish: Encodable {
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

    /// What the leader of a stream has last on a subject, so never an older message than one that was read or written
    /// before; nil for nothing.
    func last(on subject: String, of name: String) async throws -> StreamMessage? {
        do {
            let found: FoundMessage = try await ask("STREAM.MSG.GET.\(name)", LastWish(last_by_subj: subject))
            return StreamMessage(
                number: found.message.seq, headers: String(decoding: Self.bytes(found.message.hdrs), as: UTF8.self),
                bytes: Self.bytes(found.message.data))
        } catch let error as NATSError where error.isRefusal(NATSError.Number.messageNotFound) {
            return nil
        }
    }

    private struct NextWish: Encodable {
        var seq: UInt64
        var next_by_subj: String
    }

    /// The number of the first message after `number` that a stream's leader has on matching subjects; nil for none.
    package func next(after number: UInt64, on subjects: String, of name: String) async throws -> UInt64? {
        do {
            let wish = NextWish(seq: number.adding(clamping: 1), next_by_subj: subjects)
            let found: FoundMessage = try await ask("STREAM.MSG.GET.\(name)", wish)
            return found.message.seq
        } catch let error as NATSError where error.isRefusal(NATSError.Number.messageNotFound) {
            return nil
        }
    }

    private struct NumberWish: Encodable {
        var seq: UInt64
        var no_erase = true
    }

    private struct Removal: Decodable {
        var success: Bool
    }

    /// Removes one message, if it is there.
    func remove(_ number: UInt64, of name: String) async throws {
        do {
            let _: Removal = try await ask("STREAM.MSG.DELETE.\(name)", NumberWish(seq: number))
        } catch NATSError.refused(_, NATSError.Number.messageNotRemoved, "no message found", _) {
            // Somebody else removed it, or a later one has its subject. All that can be wrong has the same number.
        }
    }

    private static func bytes(_ text: String?) -> [UInt8] {
        Array(text.flatMap { Data(base64Encoded: $0) } ?? Data())
    }
}
