#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PushContent {
    /// What a notification brings along, from the `userInfo` that iOS hands over.
    ///
    /// Reads the neutral object, else the payload's own dialect; nil when there is nothing to attach and to report.
    public init?(userInfo: [AnyHashable: Any]) {
        self.init(payload: PayloadValue(userInfo: userInfo))
    }

    /// The same from a payload.
    ///
    /// Lenient: an attachment or an option that cannot be read does not take the others with it, unknown keys mean
    /// nothing. Addresses are http or https. A neutral object without attachments says that there are none.
    public init?(payload: PayloadValue) {
        let object = payload[Self.key]
        let elements = object?["attachments"]?.elements ?? []
        attachments = elements.prefix(Limits.payloadMediaMax).enumerated()
            .compactMap { PushAttachment($0.element, index: $0.offset) }
        receipt = object?["receipt"].flatMap(PushReceipt.init)
        if object?.members == nil || (attachments.isEmpty && !elements.isEmpty) {
            attachments = Self.dialectAttachments(in: payload)
        }
        guard !attachments.isEmpty || receipt != nil else { return nil }
    }

    /// An address that a device may fetch from.
    static func webAddress(_ text: String) -> URL? {
        guard text.utf8.count <= Limits.urlBytesMax, let url = URL(string: text), let host = url.host, !host.isEmpty,
            ["http", "https"].contains(url.scheme?.lowercased() ?? "")
        else { return nil }
        return url
    }
}

extension PushAttachment {
    /// Nil when there is nothing to fetch.
    fileprivate init?(_ value: PayloadValue, index: Int) {
        self.init(id: value["id"]?.string ?? "\(index)")
        url = value["url"]?.string.flatMap { PushContent.webAddress($0) == nil ? nil : $0 }
        file = value["file"]?.string
        bytes = value["bytes"].flatMap(Self.bytes)
        sha256 = value["sha256"].flatMap(Self.digest)
        options = value["options"].map(PushAttachmentOptions.init)
        thumbnail = value["thumbnail"].flatMap(PushThumbnail.init)
        guard url != nil || file != nil || thumbnail != nil else { return nil }
    }

    fileprivate static func bytes(_ value: PayloadValue) -> Int? {
        value.double.flatMap(Int.init(exactly:)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Lower case; nil for what is not 64 hexadecimal digits.
    fileprivate static func digest(_ value: PayloadValue) -> String? {
        guard let digest = value.string?.lowercased(), digest.utf8.count == 64,
            digest.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else { return nil }
        return digest
    }
}

extension PushThumbnail {
    fileprivate init?(_ value: PayloadValue) {
        guard let url = value["url"]?.string, PushContent.webAddress(url) != nil else { return nil }
        self.init(url: url)
        bytes = value["bytes"].flatMap(PushAttachment.bytes)
        sha256 = value["sha256"].flatMap(PushAttachment.digest)
    }
}

extension PushReceipt {
    fileprivate init?(_ value: PayloadValue) {
        guard let url = value["url"]?.string, PushContent.webAddress(url) != nil, let token = value["token"]?.string,
            !token.isEmpty
        else { return nil }
        self.init(url: url, token: token)
    }
}

extension PushAttachmentOptions {
    fileprivate init(_ value: PayloadValue) {
        typeHint = value["typeHint"]?.string
        thumbnailHidden = value["thumbnailHidden"]?.bool
        thumbnailClippingRect = value["thumbnailClippingRect"].flatMap(Self.clippingRect)
        thumbnailTime = value["thumbnailTime"].flatMap(ThumbnailTime.init)
    }

    private static func clippingRect(_ value: PayloadValue) -> ClippingRect? {
        guard let x = value["X"]?.double, let y = value["Y"]?.double, let width = value["Width"]?.double,
            let height = value["Height"]?.double
        else { return nil }
        return try? ClippingRect(x: x, y: y, width: width, height: height)
    }
}

extension ThumbnailTime {
    /// A frame number, or a CMTime that names a time.
    fileprivate init?(_ value: PayloadValue) {
        if let number = value.double {
            guard let frame = Int(exactly: number), frame >= 0 else { return nil }
            self = .frame(frame)
        } else {
            guard let time = MovieTime(value) else { return nil }
            self = .movie(time)
        }
    }
}

extension MovieTime {
    fileprivate init?(_ value: PayloadValue) {
        guard let ticks = value["value"]?.double.flatMap(Int64.init(exactly:)), ticks >= 0,
            let timescale = value["timescale"]?.double.flatMap(Int32.init(exactly:)), timescale > 0,
            let flags = value["flags"]?.double.flatMap(UInt32.init(exactly:)), flags & 1 == 1
        else { return nil }
        let epoch = value["epoch"]?.double.flatMap(Int64.init(exactly:)) ?? 0
        self.init(value: ticks, timescale: timescale, epoch: epoch, flags: flags)
    }
}
