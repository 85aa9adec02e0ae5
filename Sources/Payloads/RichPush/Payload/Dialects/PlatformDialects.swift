/// Platforms that other services use for delivery. Sources: `docs/reference/apple-attachment-rules.md` 2.1.
extension PayloadDialect {
    static let platforms: [PayloadDialect] = [
        firebaseMessaging,
        // aws-amplify/amplify-swift, PinpointNotificationPayload.swift.
        PayloadDialect("pinpoint", service: "Amazon Pinpoint", locations: [MediaLocation(["data", "media-url"])]),
        PayloadDialect(
            "expo", service: "Expo",
            locations: [
                MediaLocation(["_richContent", "image"]), MediaLocation(["body", "_richContent", "image"]),
                MediaLocation(["data", "_richContent", "image"]),
                MediaLocation(["body", .text, "_richContent", "image"]),
                MediaLocation(["richContent", "image"], isRequest: true).shared(.whenNamed),
            ]),
        // appleboy/gorush, README and notify/notification_fcm.go: the image is for Android and Huawei.
        PayloadDialect(
            "gorush", service: "gorush",
            locations: [MediaLocation(["notifications", .each, "image"], isRequest: true).shown(on: .android)]),
        // TOAST-DOCS, guides of the Push API v2.3 and of Notification Hub.
        PayloadDialect(
            "nhn", service: "NHN Cloud Push",
            locations: nhnLocations(["content", "default"]) + nhnLocations(["content"])),
    ]

    private static func nhnLocations(_ content: PayloadPattern) -> [MediaLocation] {
        let message = content.appending("richMessage")
        return ["iosMedia", "media", "androidMedia"].map { key in
            let media = message.appending(.key(key))
            let location = MediaLocation(
                media.appending("source"), [.type: media.appending("extension"), .kind: media.appending("mediaType")],
                types: .fileExtension(standard: nil), isRequest: true)
            return key == "androidMedia"
                ? location.shown(on: .android) : location.shared(key == "media" ? .whenNamed : .none)
        }
    }
}

/// Home automation and self-hosted tools. Sources: `docs/reference/apple-attachment-rules.md` 2.1.
extension PayloadDialect {
    static let homeAndTools: [PayloadDialect] = [
        PayloadDialect(
            "home-assistant", service: "Home Assistant",
            locations: [
                MediaLocation(
                    ["attachment", "url"],
                    [.type: ["attachment", "content-type"], .thumbnailHidden: ["attachment", "hide-thumbnail"]],
                    companions: [["attachment", "lazy"]],
                    types: .keywordsOrUTI([
                        TypeKeyword("jpeg", .jpeg), TypeKeyword("jpg", .jpeg), TypeKeyword("png", .png),
                        TypeKeyword("gif", .gif),
                        TypeKeyword("aiff", .aiff), TypeKeyword("waveformaudio", .wave), TypeKeyword("mp3", .mp3),
                        TypeKeyword("mpeg4audio", .mpeg4Audio), TypeKeyword("mpeg", .mpeg),
                        TypeKeyword("mpeg2", .mpeg2Video),
                        TypeKeyword("mpeg4", .mpeg4), TypeKeyword("avi", .avi),
                    ]))
            ]),
        // Its Android app reads the same keys.
        PayloadDialect(
            "home-assistant-action", service: "Home Assistant's notify action",
            required: [DialectMark(["message"], prefix: "")], excluded: [["aps"], ["apns"]],
            locations: homeAssistantActions),
        PayloadDialect(
            "ntfy", service: "ntfy",
            locations: [
                MediaLocation(
                    ["attachment_url"],
                    [.type: ["attachment_type"], .name: ["attachment_name"], .bytes: ["attachment_size"]],
                    companions: [["attachment_expires"]], types: .any)
            ]),
        PayloadDialect(
            "flutter", service: "flutter_local_notifications",
            marks: ["filePath", "identifier", "hideThumbnail"].flatMap { key in
                flutterLists.map { DialectMark($0.appending(.each).appending(.key(key))) }
            },
            locations: ["filePath", "url"].flatMap { key in
                flutterLists.map { list in
                    MediaLocation(
                        list.appending(.each).appending(.key(key)), flutterFields(list.appending(.each)),
                        namesLocalFiles: true)
                }
            }),
        PayloadDialect(
            "capacitor", service: "Capacitor and Tauri local notifications",
            locations: [["attachments"], ["notifications", .each, "attachments"], ["extra", "attachments"]].map {
                (steps: [PayloadPattern.Step]) in
                let attachment = PayloadPattern(steps + [.each])
                let object = attachment.appending("options")
                return MediaLocation(
                    attachment.appending("url"),
                    options(of: object, names: .constantsForIOS).merging([.id: attachment.appending("id")]) { $1 },
                    otherFields: [
                        options(of: object, names: .short), options(of: object, names: .constants),
                        flutterFields(attachment),
                    ], companions: [object], namesLocalFiles: true)
            }),
    ]

    /// The data of an action that notifies, in the order in which iOS reads the keys.
    ///
    /// Source: home-assistant/companion.home-assistant, docs/notifications/attachments.md: `attachment.url` is for iOS
    /// and overrides the keys that Android reads as well.
    private static let homeAssistantActions: [MediaLocation] = {
        let attachment = MediaLocation(
            ["data", "attachment", "url"],
            [
                .type: ["data", "attachment", "content-type"],
                .thumbnailHidden: ["data", "attachment", "hide-thumbnail"],
            ],
            companions: [["data", "attachment", "lazy"]], types: .any, isRequest: true)
        return [attachment]
            + ["video", "image", "audio"].map { key in
                MediaLocation(["data", .key(key)], isRequest: true)
                    .shared(key == "image" ? .whenNamed : .none, adding: [.ios: attachment.address])
            }
    }()

    private static let flutterLists: [PayloadPattern] = [["attachments"], ["platformSpecifics", "attachments"]]

    /// The fields of flutter_local_notifications, which has neither a type hint nor a time.
    private static func flutterFields(_ attachment: PayloadPattern) -> [MediaLocation.Field: PayloadPattern] {
        [
            .id: attachment.appending("identifier"), .thumbnailHidden: attachment.appending("hideThumbnail"),
            .clippingRect: attachment.appending("thumbnailClippingRect"),
        ]
    }
}

/// Formats of tutorials, and generic keys. Sources: `docs/reference/apple-attachment-rules.md` 2.0 and 2.1.
extension PayloadDialect {
    static let tutorials: [PayloadDialect] = [
        PayloadDialect("podcast", service: "Podcast tutorial", locations: [MediaLocation(["podcast-image"])]),
        PayloadDialect(
            "aps-media", service: "Media keys inside aps", choice: .allLocations,
            locations: ["movie", "audio", "image"].map { key in
                MediaLocation(
                    ["aps", .key(key)],
                    keys: [MediaKey("movie", .movie), MediaKey("audio", .audio), MediaKey("image", .image)],
                    namesLocalFiles: true)
            }),
        PayloadDialect(
            "image-url", service: "imageUrl tutorial",
            locations: [MediaLocation(["aps", "imageUrl"]), MediaLocation(["imageUrl"])]
        ),
        PayloadDialect("attach", service: "attach tutorial", locations: [MediaLocation(["attach"])]),
    ]

    static let generalKeys: [PayloadDialect] = [
        // Stories: Pushwoosh/pushwoosh-ios-sdk, StoryPayloadParserTests.swift.
        PayloadDialect(
            "pushwoosh", service: "Pushwoosh", choice: .allLocations,
            locations: [MediaLocation(["attachment"]), MediaLocation(["pw_stories", "pages", .each, "image"])]),
        PayloadDialect(
            "bark", service: "Bark",
            marks: (barkKeys + ["icon"]).map { DialectMark([.key($0)]) },
            // The icon is the sender's picture: Finb/Bark, IconProcessor.swift. A request to its server has no aps:
            // Finb/bark-server, docs/API_V2.md.
            locations: [
                MediaLocation(["image"], isRequest: true), MediaLocation(["icon"], isRequest: true).shown(on: .avatar),
            ]),
        // inngage/inngage-ios-swift, InngageImageHelper.swift, InngageSDK.swift and InngageAnalytics.swift.
        PayloadDialect(
            "inngage", service: "Inngage", marks: ["notId", "inn_utm_source"].map { DialectMark([.key($0)]) },
            locations: [MediaLocation(["image"])]),
        // Mark: exponea/exponea-ios-sdk, PushNotificationManager.
        PayloadDialect(
            "exponea", service: "Exponea (Bloomreach)", marks: [DialectMark(["source"], prefix: "xnpe_platform")],
            locations: [MediaLocation(["image"])]),
        // Marks: adobe/aepsdk-core-ios, LaunchInformation.
        PayloadDialect(
            "adobe-mobile", service: "Adobe Mobile Services",
            marks: [DialectMark(["adb_m_id"]), DialectMark(["adb_deeplink"])],
            locations: [MediaLocation(["attachment-url"])]),
        PayloadDialect(
            "emarsys", service: "Emarsys", marks: [DialectMark(["ems"])],
            locations: [MediaLocation(["notification", "imageUrl"]), MediaLocation(["image_url"])]),
        PayloadDialect(
            "generic", service: "Keys that many apps and tutorials share",
            locations: [
                MediaLocation(["attachment-url"]), MediaLocation(["image_url"]), MediaLocation(["image"]),
                MediaLocation(["image-url"]), MediaLocation(["media-url"]), MediaLocation(["my-attachment"]),
                // phonegap/phonegap-plugin-push#2663
                MediaLocation(["data", "attachment-url"]),
            ] + mediaLists),
        PayloadDialect(
            "pushward", service: "Pushward",
            locations: [MediaLocation(["media", "url"], [.type: ["media", "type"]], types: .any, isRequest: true)]),
        // The last one: it reads what no service defines.
        PayloadDialect(
            "json-text", service: "JSON texts of apps", choice: .allLocations, required: [DialectMark(["aps"])],
            locations: [MediaLocation([.eachMember, .text, .mediaBelow])]),
    ]

    /// Keys of Bark that web push messages do not have: Finb/bark-server, docs/API_V2.md.
    static let barkKeys = [
        "device_key", "device_keys", "group", "isarchive", "isArchive", "level", "autocopy", "autoCopy", "ciphertext",
        "call",
    ]

    /// Keys of lists of URLs.
    private static let mediaLists: [MediaLocation] = [
        "images", "image_urls", "imageUrls", "media_urls", "mediaUrls", "media", "pictures", "photos", "gallery",
        "attachments",
    ].map { MediaLocation([.key($0), .each]) }
}
