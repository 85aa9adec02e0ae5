import SafeArithmetic

/// What a payload brings along that was not prepared, or that has no room for the neutral object.
extension PushContent {
    /// The media of the payload's own dialect, with what stands in for it right behind.
    static func dialectAttachments(in payload: PayloadValue) -> [PushAttachment] {
        let items = (try? PayloadReader.media(in: payload))?.items ?? []
        let attachments = items.prefix(Limits.payloadMediaMax).enumerated().flatMap { index, item in
            [PushAttachment(item, id: item.id ?? "\(index)"), item.fallback(id: item.id ?? "\(index)")]
        }
        return Array(attachments.compactMap { $0 }.prefix(Limits.payloadMediaMax))
    }
}

extension PushAttachment {
    /// Nil for an address that only the app or its server can complete.
    fileprivate init?(_ item: PayloadMediaItem, id: String) {
        self.init(id: id)
        switch item.address {
        case .url(let text) where PushContent.webAddress(text) != nil: url = text
        case .file(let name): file = name
        default: return nil
        }
        options = item.deviceOptions(type: item.attachmentType)
    }
}

extension PayloadMediaItem {
    fileprivate func fallback(id: String) -> PushAttachment? {
        guard let fallbackURL, PushContent.webAddress(fallbackURL) != nil else { return nil }
        var attachment = PushAttachment(id: "\(id)-fallback")
        attachment.url = fallbackURL
        // What the payload says of the type, it says of the first address.
        attachment.options = deviceOptions(type: nil)
        return attachment
    }

    /// The type that the payload names; a kind alone is none.
    fileprivate var attachmentType: AttachmentType? {
        guard let declaredType else { return nil }
        let words: [TypeWord] = if case .words(let words) = place.types { words } else { [] }
        return TypeDeclaration(declaredType, words: words).attachmentType
    }

    fileprivate func deviceOptions(type: AttachmentType?) -> PushAttachmentOptions {
        var device = PushAttachmentOptions()
        device.typeHint = type?.uti
        device.thumbnailHidden = options.thumbnailHidden
        device.thumbnailClippingRect = options.clippingRect
        device.thumbnailTime = options.thumbnailTime.flatMap { time in
            switch type ?? addressType {
            case .gif: .frame(Int(clamping: time))
            case let type? where type.kind == .movie: .movie(MovieTime(seconds: time))
            // Seconds and frames look alike: what it is of nobody says.
            default: nil
            }
        }
        return device
    }

    private var addressType: AttachmentType? {
        switch address {
        case .url(let text), .file(let text): AttachmentType(name: text)
        case .other: nil
        }
    }
}
