import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The body of `POST /v1/payloads`, whose payload stays as it was written.
struct PayloadSubmission {
    static let keys = ["payload", "dialect", "mediaKey", "request", "campaign", "recipients", "sentAt", "neutral"]

    let order: PayloadOrder
    /// What is asked of all media; it has no source.
    let template: AttachmentRequest
    /// Whose arrivals are counted; nil asks no phone for a receipt.
    let campaign: String?
    /// Phones that the payload is sent to.
    let recipients: Int
    /// When it goes out; nil is now.
    let sentAt: Date?
    /// Whether the member `attachprep` is added.
    let addsNeutralObject: Bool

    /// - Throws: `payload.invalid`, `payload.no_media`, `request.invalid`.
    init(_ bytes: [UInt8]) throws {
        let body = try PayloadDocument(bytes)
        if let unknown = body.value.members?.map(\.key).first(where: { !Self.keys.contains($0) }) {
            throw AttachPrepError(
                .requestInvalid,
                "The body has an unknown key \"\(unknown.prefix(40))\"; known are "
                    + "\(Self.keys.joined(separator: ", ")), and the payload itself stands in \"payload\".")
        }
        let payload = PayloadPath([.key("payload")])
        guard body.value["payload"]?.members != nil, let text = try? body.bytes(at: payload) else {
            throw AttachPrepError(.payloadInvalid, "The body's \"payload\" is no JSON object; give the APNs payload.")
        }
        template = try Self.template(body)
        campaign = try Self.text("campaign", in: body.value)
        recipients = try Self.recipients(body.value)
        sentAt = try Self.time("sentAt", in: body.value)
        addsNeutralObject = try Self.neutral(body.value)
        guard addsNeutralObject || campaign == nil else {
            throw AttachPrepError(
                .requestInvalid,
                "A receipt is asked for in the member that \"neutral\": false leaves out; leave out one of the two.")
        }
        let dialect = try PayloadOrder.dialect(
            named: Self.text("dialect", in: body.value), mediaKey: Self.text("mediaKey", in: body.value))
        order = try PayloadOrder(PayloadDocument(text), dialect: dialect)
    }

    /// A caller waits for the answer, so its jobs go before others unless it says otherwise.
    private static func template(_ body: PayloadDocument) throws -> AttachmentRequest {
        var defaults = AttachmentRequest(source: "")
        defaults.terms.priority = .high
        guard let value = body.value["request"], value != .null else { return defaults }
        guard value.members != nil, value["source"] == nil else {
            throw AttachPrepError(
                .requestInvalid, "The body's \"request\" is an object as for a job, without a source.")
        }
        let path = PayloadPath([.key("request")])
        var whole = body
        try whole.apply([.set(key: "source", .string(""), in: path)])
        return try AttachmentRequest(json: whole.bytes(at: path), defaults: defaults)
    }

    private static func recipients(_ body: PayloadValue) throws -> Int {
        guard let value = body["recipients"], value != .null else { return 1 }
        // Some languages write every number with a point: 100.0 is as whole as 100.
        guard case .number(let text) = value, let count = Int(text) ?? Double(text).flatMap(Int.init(exactly:)),
            count >= 1
        else {
            throw AttachPrepError(
                .requestInvalid, "The body's \"recipients\" is not a whole number of phones, 1 or more.")
        }
        return count
    }

    private static func neutral(_ body: PayloadValue) throws -> Bool {
        switch body["neutral"] {
        case nil, .null: return true
        case .bool(let isWanted): return isWanted
        default: throw AttachPrepError(.requestInvalid, "The body's \"neutral\" is not true or false.")
        }
    }

    private static func time(_ key: String, in body: PayloadValue) throws -> Date? {
        guard let text = try text(key, in: body) else { return nil }
        guard let date = Timestamp.date(text) else {
            throw AttachPrepError(
                .requestInvalid, "The body's \"\(key)\" is not a time as in 2026-11-22T20:51:02Z (RFC 3339).")
        }
        return date
    }

    private static func text(_ key: String, in body: PayloadValue) throws -> String? {
        guard let value = body[key], value != .null else { return nil }
        guard let text = value.string else {
            throw AttachPrepError(.requestInvalid, "The body's \"\(key)\" is not a string.")
        }
        return text
    }
}
