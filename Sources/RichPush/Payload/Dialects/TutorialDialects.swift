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
        // Stories: Pushwoosh/pushwoosh-ios-sdk, StoryPayloadParserTests.swift.
        PayloadDialect(
            "pushwoosh", service: "Pushwoosh", choice: .allPlaces,
            places: [MediaPlace(["attachment"]), MediaPlace(["pw_stories", "pages", .each, "image"])]),
        PayloadDialect(
            "bark", service: "Bark",
            marks: ["group", "icon", "isarchive", "isArchive", "level", "autocopy", "autoCopy", "ciphertext", "call"]
                .map { DialectMark([.key($0)]) }, places: [MediaPlace(["image"])]),
        // Its own payloads are marked: exponea/exponea-ios-sdk, PushNotificationManager.
        PayloadDialect(
            "exponea", service: "Exponea (Bloomreach)", marks: [DialectMark(["source"], prefix: "xnpe_platform")],
            places: [MediaPlace(["image"])]),
        // adobe/aepsdk-core-ios, LaunchInformation: what its pushes are known by.
        PayloadDialect(
            "adobe-mobile", service: "Adobe Mobile Services",
            marks: [DialectMark(["adb_m_id"]), DialectMark(["adb_deeplink"])],
            places: [MediaPlace(["attachment-url"])]),
        PayloadDialect(
            "emarsys", service: "Emarsys", marks: [DialectMark(["ems"])],
            places: [MediaPlace(["notification", "imageUrl"]), MediaPlace(["image_url"])]),
        PayloadDialect(
            "generic", service: "Keys that many apps and tutorials share",
            places: [
                MediaPlace(["attachment-url"]), MediaPlace(["image_url"]), MediaPlace(["image"]),
                MediaPlace(["image-url"]), MediaPlace(["media-url"]), MediaPlace(["my-attachment"]),
                // phonegap/phonegap-plugin-push#2663
                MediaPlace(["data", "attachment-url"]),
            ]),
        PayloadDialect(
            "pushward", service: "Pushward",
            places: [MediaPlace(["media", "url"], [.type: ["media", "type"]], types: .any, isRequest: true)]),
    ]
}
