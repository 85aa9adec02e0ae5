#if canImport(UserNotifications)
    import UserNotifications
#endif

extension PushAttachmentOptions {
    /// As `UNNotificationAttachment` takes them, for a file of that type.
    ///
    /// The type hint is the file's own; what means nothing for such a file is left out: sounds have no thumbnail, a
    /// frame number belongs to a GIF, a time to a movie.
    public func dictionary(for type: AttachmentType) -> [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [Self.typeHintKey: type.uti]
        guard type.kind != .audio else { return dictionary }
        if let thumbnailHidden { dictionary[Self.thumbnailHiddenKey] = thumbnailHidden }
        if let thumbnailClippingRect {
            dictionary[Self.thumbnailClippingRectKey] = thumbnailClippingRect.dictionaryRepresentation
        }
        switch thumbnailTime {
        case .movie(let time) where type.kind == .movie:
            dictionary[Self.thumbnailTimeKey] = time.dictionaryRepresentation
        case .frame(let number) where type == .gif: dictionary[Self.thumbnailTimeKey] = number
        default: break
        }
        return dictionary
    }

    // The constants' own text is not documented: elsewhere their names stand in for them.
    #if canImport(UserNotifications)
        static var typeHintKey: String { UNNotificationAttachmentOptionsTypeHintKey }
        static var thumbnailHiddenKey: String { UNNotificationAttachmentOptionsThumbnailHiddenKey }
        static var thumbnailClippingRectKey: String { UNNotificationAttachmentOptionsThumbnailClippingRectKey }
        static var thumbnailTimeKey: String { UNNotificationAttachmentOptionsThumbnailTimeKey }
    #else
        static let typeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
        static let thumbnailHiddenKey = "UNNotificationAttachmentOptionsThumbnailHiddenKey"
        static let thumbnailClippingRectKey = "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
        static let thumbnailTimeKey = "UNNotificationAttachmentOptionsThumbnailTimeKey"
    #endif
}

extension ClippingRect {
    /// What `CGRectCreateDictionaryRepresentation` makes.
    fileprivate var dictionaryRepresentation: [String: Double] {
        ["X": x, "Y": y, "Width": width, "Height": height]
    }
}

extension MovieTime {
    /// What `CMTimeCopyAsDictionary` makes.
    fileprivate var dictionaryRepresentation: [String: any Sendable] {
        ["value": value, "timescale": timescale, "epoch": epoch, "flags": flags]
    }
}
