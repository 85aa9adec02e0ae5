import AttachPrepModel
package import RichPush

/// The part of an input that one system receives, and how large it may be.
///
/// A message to FCM holds the payloads of several systems: each receives the shared members and its own block.
package struct PayloadShare: Sendable, Hashable {
    package enum Part: Sendable, Hashable {
        /// The value at a path, byte for byte.
        case value(PayloadPath)
        /// The message at a path with only the block of one system, in compact form: FCM writes it again.
        case message(PayloadPath, block: String)
    }

    package let part: Part
    /// The system or service whose limit it is, for messages.
    package let service: String
    package let bytesMax: Int

    /// The APNs payload at a path.
    package static func apns(_ root: PayloadPath) -> PayloadShare {
        PayloadShare(part: .value(root), service: "APNs", bytesMax: Limits.payloadBytesMax)
    }

    private static func message(_ path: PayloadPath, block: String, service: String) -> PayloadShare {
        PayloadShare(part: .message(path, block: block), service: service, bytesMax: Limits.payloadBytesMax)
    }

    /// The share of iOS; of web push, the whole message.
    package init(_ media: PayloadMedia) {
        if media.isWebPush {
            self.init(part: .value(PayloadPath()), service: "web push", bytesMax: Limits.webPushBytesMax)
        } else if let path = Self.messagePath(media) {
            self = .message(path, block: "apns", service: "APNs")
        } else {
            self = .apns(media.root)
        }
    }

    private init(part: Part, service: String, bytesMax: Int) {
        (self.part, self.service, self.bytesMax) = (part, service, bytesMax)
    }

    /// The shares of the other systems that a message to FCM has a block for.
    package static func others(_ media: PayloadMedia, in value: PayloadValue) -> [PayloadShare] {
        guard let path = messagePath(media), let message = value.value(at: path) else { return [] }
        return [("android", "Android"), ("webpush", "browsers")].compactMap { block, service in
            message[block] == nil ? nil : .message(path, block: block, service: service)
        }
    }

    /// The path of FCM's message; nil for other inputs.
    static func messagePath(_ media: PayloadMedia) -> PayloadPath? {
        let payload: [PayloadPath.Step] = [.key("apns"), .key("payload")]
        if media.root.steps == payload { return PayloadPath() }
        return media.root.steps == [.key("message")] + payload ? PayloadPath([.key("message")]) : nil
    }

    /// The bytes that count.
    package func bytes(of document: PayloadDocument) throws(PayloadError) -> Int {
        switch part {
        case .value(let path): return try document.bytes(at: path).count
        case .message(let path, let block):
            guard let members = document.value.value(at: path)?.members else { return 0 }
            let own = members.compactMap { member -> PayloadMember? in
                if Self.blocks.contains(member.key) {
                    return member.key == block ? PayloadMember(block, member.value.withoutHeaders) : nil
                }
                return Self.addresses.contains(member.key) ? nil : member
            }
            return JSONLayout.compact.serialized(.object(own)).count
        }
    }

    /// Whether whitespace between tokens counts.
    var hasWhitespace: Bool {
        if case .value = part { true } else { false }
    }

    private static let blocks: Set<String> = ["apns", "android", "webpush"]
    /// Members that name the receiver, which does not receive them.
    private static let addresses: Set<String> = ["token", "tokens", "topic", "condition", "name"]
}

extension PayloadValue {
    /// The block of a system without the HTTP headers of its push service.
    fileprivate var withoutHeaders: PayloadValue {
        members.map { .object($0.filter { $0.key != "headers" }) } ?? self
    }
}

extension Limits {
    /// A web push message in bytes of JSON: RFC 8291 encrypts it into one record of 4,096 bytes, of which 86 are the
    /// header, 16 the authentication tag and 1 the padding delimiter.
    package static let webPushBytesMax = 3_993
    /// A web push message for Firefox on Android, in bytes of JSON: Mozilla's push service sends the encrypted body to
    /// FCM in base64, in a data object of at most 4,096 bytes (mozilla-services/autopush-rs, `message_size_check`).
    package static let webPushBytesMaxOfFirefoxOnAndroid = 2_900
}
