/// The forms of tutorials, and keys that are anybody's. Sources: `apple-attachments.md` 2.0 and 2.1.
extension PayloadDialect {
    static let tutorials: [PayloadDialect] = [
        PayloadDialect("podcast", service: "Podcast tutorial", places: [MediaPlace(["podcast-image"])]),
        PayloadDialect(
            "aps-media", service: "Media keys inside aps", choice: .allPlaces,
            places: ["movie", "audio", "image"].map { key in
                MediaPlace(
                    ["aps", .key(key)],
                    keys: [MediaKey("movie", .movie), MediaKey("audio", .audio), MediaKey("image", .image)],
                    namesLocalFiles: true)
            }),
        PayloadDialect(
            "image-url", service: "imageUrl tutorial",
            places: [MediaPlace(["aps", "imageUrl"]), MediaPlace(["imageUrl"])]
        ),
        PayloadDialect("attach", service: "attach tutorial", places: [MediaPlace(["attach"])]),
    ]

    static let generalKeys: [PayloadDialect] = [
        PayloadDialect("pushwoosh", service: "Pushwoosh", places: [MediaPlace(["attachment"])]),
        PayloadDialect(
            "bark", service: "Bark",
            marks: ["group", "icon", "isarchive", "isArchive", "level", "autocopy", "autoCopy", "ciphertext", "call"]
                .map { DialectMark([.key($0)]) }, places: [MediaPlace(["image"])]),
        PayloadDialect("exponea", service: "Exponea (Bloomreach)", places: [MediaPlace(["image"])]),
        PayloadDialect(
            "pushward", service: "Pushward",
            places: [MediaPlace(["media", "url"], [.type: ["media", "type"]], types: .any, isRequest: true)]),
    ]
}
