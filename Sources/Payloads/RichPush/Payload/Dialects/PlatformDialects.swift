/// Platforms that other services use for delivery. Sources: `docs/reference/apple-attachment-rules.md` 2.1.
extension PayloadDialect {
    static let platforms: [PayloadDialect] = [
        PayloadDialect(
            "fcm", service: "Firebase Cloud Messaging",
            locations: [
                MediaLocation(["fcm_options", "image"]),
                MediaLocation(["message", "apns", "fcm_options", "image"], root: request),
                MediaLocation(["message", "notification", "image"], root: request),
                MediaLocation(["apns", "fcm_options", "image"], root: PayloadPath([.key("apns"), .key("payload")])),
            ]),
        // aws-amplify/amplify-swift, PinpointNotificationPayload.swift.
        PayloadDialect("pinpoint", service: "Amazon Pinpoint", locations: [MediaLocation(["data", "media-url"])]),
        PayloadDialect(
            "expo", service: "Expo",
            locations: [
                MediaLocation(["_richContent", "image"]), MediaLocation(["body", "_richContent", "image"]),
                MediaLocation(["data", "_richContent", "image"]),
                MediaLocation(["body", .text, "_richContent", "image"]),
                MediaLocation(["richContent", "image"], isRequest: true),
            ]),
    ]

    /// The name of the dialect that writes `mutable-content` as `mutableContent`.
    package static let firebaseAdmin = "firebase-admin"

    /// The format of Firebase's Admin SDK for Node; tried last, since other services also use `notification.imageUrl`.
    ///
    /// Source: firebase/firebase-admin-node, messaging-api.ts (`ApnsFcmOptions.imageUrl`, `Aps.mutableContent`), which
    /// messaging-internal.ts renames to `image` and `mutable-content` (`validateApnsFcmOptions`, `validateAps`). The
    /// SDKs for Go (messaging.go), Java (ApnsFcmOptions.java) and Python (_messaging_encoder.py) build the form of the
    /// API.
    static let firebaseAdminSDKs = [
        PayloadDialect(
            firebaseAdmin, service: "Firebase Admin SDK",
            marks: ["apns", "token", "tokens", "topic", "condition"].map { DialectMark([.key($0)]) },
            locations: [["apns", "fcmOptions", "imageUrl"], ["notification", "imageUrl"]].map {
                MediaLocation($0, root: PayloadPath([.key("apns"), .key("payload")]))
            })
    ]

    /// The path of the APNs payload in a request to FCM's API.
    private static let request = PayloadPath([.key("message"), .key("apns"), .key("payload")])
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
            marks: ["group", "icon", "isarchive", "isArchive", "level", "autocopy", "autoCopy", "ciphertext", "call"]
                .map { DialectMark([.key($0)]) }, locations: [MediaLocation(["image"])]),
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
            ]),
        PayloadDialect(
            "pushward", service: "Pushward",
            locations: [MediaLocation(["media", "url"], [.type: ["media", "type"]], types: .any, isRequest: true)]),
    ]
}
