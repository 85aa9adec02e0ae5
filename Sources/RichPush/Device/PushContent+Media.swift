import SafeArithmetic

/// The neutral object of media that was prepared.
extension PushContent {
    /// What can be fetched, and the app's own files; what failed, and what only the app can complete, is left out.
    public init(media: PayloadMedia, prepared: [PreparedMedia], receipt: PushReceipt?) {
        var (ids, urls): (Set<String>, Set<String>) = ([], [])
        attachments = zip(media.items, prepared).enumerated().compactMap { index, pair in
            let (item, prepared) = pair
            guard var attachment = PushAttachment(item, prepared) else { return nil }
            // What failed once is not fetched again under another name.
            if let url = attachment.url, !urls.insert(url).inserted { return nil }
            attachment.id = Self.unique(item.id ?? "\(index)", among: &ids)
            return attachment
        }
        self.receipt = receipt
    }

    /// iOS takes an identifier once.
    private static func unique(_ id: String, among ids: inout Set<String>) -> String {
        // Bounded: a constant of ours.
        let candidates = [id] + (2...Limits.payloadMediaMax + 1).map { "\(id)-\($0)" }
        let free = candidates.first { !ids.contains($0) } ?? id
        ids.insert(free)
        return free
    }
}

extension PushAttachment {
    /// Nil when there is nothing to fetch.
    fileprivate init?(_ item: PayloadMediaItem, _ prepared: PreparedMedia) {
        self.init(id: "")
        switch prepared {
        case .ready(let manifest), .fallback(let manifest):
            guard let attachment = manifest.attachment, let url = attachment.url else { return nil }
            self.url = url
            (bytes, sha256) = (attachment.bytes, attachment.sha256)
            options = PushAttachmentOptions(attachment, manifest.options)
            thumbnail = manifest.thumbnail.flatMap { PushThumbnail($0, beside: attachment) }
        case .untouched:
            guard case .file(let name) = item.address else { return nil }
            file = name
            let asked = PushAttachmentOptions(item.options, ofFile: name)
            options = asked == PushAttachmentOptions() ? nil : asked
        case .failed: return nil
        }
    }
}

extension PushThumbnail {
    /// Nil when there is none to fetch, or when it is the attachment itself.
    fileprivate init?(_ picture: ManifestPicture, beside attachment: ManifestFile) {
        guard let url = picture.url, url != attachment.url, picture.sha256 != attachment.sha256 else { return nil }
        self.init(url: url)
        (bytes, sha256) = (picture.bytes, picture.sha256)
    }
}

extension PushAttachmentOptions {
    fileprivate init(_ attachment: ManifestFile, _ options: AttachmentOptions?) {
        typeHint = options?.typeHint ?? attachment.uti
        // Shown is what iOS does anyway.
        thumbnailHidden = options?.thumbnailHidden == true ? true : nil
        thumbnailClippingRect = options?.thumbnailClippingRect
        thumbnailTime = options?.thumbnailTime
    }

    /// What a payload asks for a file that nobody has looked at: its name alone says what its time means.
    fileprivate init(_ options: PayloadMediaOptions, ofFile name: String) {
        thumbnailHidden = options.thumbnailHidden == true ? true : nil
        thumbnailClippingRect = options.clippingRect
        let type = AttachmentType(name: name)
        guard let time = options.thumbnailTime, time >= 0, let type else { return }
        if type.kind == .movie, time <= Limits.durationSecondsMax {
            thumbnailTime = .movie(MovieTime(seconds: time))
        } else if type == .gif, time < Double(Limits.animationFramesMax) {
            thumbnailTime = .frame(Int(clamping: time))
        }
    }
}
