/// Services that share a key, the one with marks before the one without. Sources: `apple-attachments.md` 2.1.
extension PayloadDialect {
    static let sharedKeys: [PayloadDialect] = [
        PayloadDialect(
            "openhab", service: "openHAB",
            marks: [
                DialectMark(["media-attachment-url"], prefix: "item:"),
                DialectMark(["media-attachment-url"], prefix: "/"), DialectMark(["on-click"]),
                DialectMark(["reference-id"]), DialectMark(["persistedId"]),
            ], places: [MediaPlace(["media-attachment-url"])]),
        PayloadDialect(
            "adobe-campaign", service: "Adobe Campaign Standard", places: [MediaPlace(["media-attachment-url"])]),
        PayloadDialect(
            "blueshift", service: "Blueshift", choice: .allPlaces, marks: blueshiftMarks,
            places: [
                MediaPlace(["image_url"], keys: blueshiftKeys), MediaPlace(["video_url"], keys: blueshiftKeys),
                MediaPlace(["audio_url"], keys: blueshiftKeys), MediaPlace(["gif_url"], keys: blueshiftKeys),
                MediaPlace(["carousel_elements", .each, "image_url"]),
            ]),
    ]

    private static let blueshiftKeys = [
        MediaKey("image_url", .image), MediaKey("video_url", .movie), MediaKey("audio_url", .audio),
        MediaKey("gif_url", .image, isAnimation: true),
    ]

    private static let blueshiftMarks: [DialectMark] = [
        "video_url", "audio_url", "gif_url", "carousel_elements", "notification_type", "bsft_message_uuid",
        "bsft_user_uuid", "bsft_experiment_uuid", "bsft_transaction_uuid",
    ].map { DialectMark([.key($0)]) }
}
