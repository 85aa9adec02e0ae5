import AttachPrepModel
import RichPush

/// Checks the media of systems other than iOS, without fetching it.
enum TargetCheck {
    static func warnings(
        for payload: PayloadValue, media: PayloadMedia, targets: Set<MediaTarget>
    ) -> [PayloadWarning] {
        let targets = media.targets(named: targets)
        let shared = media.items.filter { $0.location.isShared(with: targets) }
        let others = media.otherItems.flatMap { item -> [PayloadWarning] in
            guard !item.location.isIgnored else { return [ignored(item)] }
            let isLeft = item.location.sharing != .always && !targets.contains(item.location.target)
            return (isLeft ? stray(item) : []) + android(item, payload: payload, media: media)
        }
        return shared.flatMap { android($0, payload: payload, media: media) } + others
    }

    private static func stray(_ item: PayloadMediaItem) -> [PayloadWarning] {
        let target = item.location.target
        let reader = target == .avatar ? "is the sender's picture" : "is for \(target.service)"
        return [
            PayloadWarning(
                .strayMedia,
                "\(PrintableText.path(item.path)) \(reader) and stays as it was; name the target \(target.rawValue) to "
                    + "have it prepared.", level: target == .avatar ? .note : nil)
        ]
    }

    private static func ignored(_ item: PayloadMediaItem) -> PayloadWarning {
        PayloadWarning(
            .mediaIgnored,
            "\(PrintableText.path(item.path)) is a header for the push service, which no browser shows; write the "
                + "image as webpush.notification.image.")
    }

    /// What Firebase's SDK for Android does not show or download.
    private static func android(
        _ item: PayloadMediaItem, payload: PayloadValue, media: PayloadMedia
    ) -> [PayloadWarning] {
        guard item.location.target == .android || item.location.sharing != .none, case .url(let url) = item.address
        else { return [] }
        let path = PrintableText.path(item.path)
        var warnings: [PayloadWarning] = []
        if let format = FileName.fileExtension(of: url).flatMap({ MediaTypeNames.extensions[$0] }),
            !shownFormats.contains(format)
        {
            let effect = format.kind == .image ? "may show no image or a still" : "shows no image"
            warnings.append(
                PayloadWarning(
                    .androidType,
                    "\(path) is \(format.mimeType) and reaches Android, which \(effect); send JPEG, PNG or BMP to it, "
                        + "or have the media prepared, which makes a still of it."))
        }
        if let bytes = knownBytes(of: url, item: item, payload: payload, media: media),
            bytes > Limits.androidImageBytesMax
        {
            warnings.append(
                PayloadWarning(
                    .androidTooLarge,
                    "\(path) has \(bytes.grouped) bytes, and Firebase's SDK for Android downloads at most "
                        + "\(Limits.androidImageBytesMax.grouped); send a smaller image."))
        }
        return warnings
    }

    /// The size of a file that the payload states: beside the URL, or in the neutral object for the same URL.
    private static func knownBytes(
        of url: String, item: PayloadMediaItem, payload: PayloadValue, media: PayloadMedia
    ) -> Int? {
        let beside = item.fields[.bytes].flatMap { payload.value(at: $0) }
        let attachments = payload.value(at: media.root)?[PushContent.key]?["attachments"]?.elements ?? []
        let prepared = attachments.prefix(Limits.payloadMediaMax)
            .first { $0["url"]?.string?.utf8.elementsEqual(url.utf8) == true }?["bytes"]
        let bytes = beside ?? prepared
        return (bytes?.double ?? bytes?.string.flatMap(Double.init)).flatMap { Int(exactly: $0.rounded()) }
    }

    /// FCM, `Notification.image`: "JPEG, PNG, BMP have full support across platforms".
    private static let shownFormats: Set<MediaFormat> = [.jpeg, .png, .bmp]
}
