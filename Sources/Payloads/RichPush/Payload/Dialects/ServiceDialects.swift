/// Marketing services with their own keys. Sources: `docs/reference/apple-attachment-rules.md` 2.1.
extension PayloadDialect {
    static let marketingServices: [PayloadDialect] = [
        airship, accengage,
        PayloadDialect(
            "braze", service: "Braze",
            locations: [
                MediaLocation(
                    ["ab", "att", "url"], [.type: ["ab", "att", "type"]], types: .fileExtension(standard: nil))
            ] + brazeRequests + brazeOthers),
        // File names: CleverTap/CTNotificationService, CTNotificationServiceExtension.m, fileExtensionForMediaType:
        // audio is .mp3 and video .mp4, whatever was downloaded. Images are decoded by content.
        PayloadDialect(
            "clevertap", service: "CleverTap", choice: .allLocations, attachmentTypes: [.mp3, .mpeg4],
            locations: [
                MediaLocation(
                    ["ct_mediaUrl"], [.type: ["ct_mediaType"]],
                    types: .keywords([
                        TypeKeyword("image", .image), TypeKeyword("video", .movie), TypeKeyword("audio", .audio),
                        TypeKeyword("gif", .gif),
                    ])),
                // A carousel and templates: CleverTap/CTNotificationContent, README.
                MediaLocation(["ct_ContentSlider", "items", .each, "imageUrl"]),
            ] + cleverTapTemplate([]) + cleverTapTemplate(["pt_json", .text])),
        PayloadDialect("iterable", service: "Iterable", locations: [MediaLocation(["itbl", "attachment-url"])]),
        PayloadDialect("batch", service: "Batch", locations: [MediaLocation(["com.batch", "at", "u"])]),
        PayloadDialect(
            "swrve", service: "Swrve",
            locations: [
                // The fallback has its own deep link: Swrve/swrve-ios-sdk, SwrveNotificationManager.m.
                MediaLocation(
                    ["_sw", "media", "url"], [.fallbackURL: ["_sw", "media", "fallback_url"]],
                    companions: [["_sw", "media", "fallback_sd"]],
                    fallbackMoves: [FallbackMove(from: ["_sw", "media", "fallback_sd"], to: ["_sd"])]),
                MediaLocation(["_sw", "media", "fallback_url"]),
            ]),
        PayloadDialect(
            "salesforce", service: "Salesforce Marketing Cloud",
            locations: [MediaLocation(["_mediaUrl"], alternativeText: ["_mediaAlt"])]),
        PayloadDialect(
            "klaviyo", service: "Klaviyo",
            locations: [
                MediaLocation(["rich-media"], [.type: ["rich-media-type"]], types: .fileExtension(standard: "jpg"))
            ]),
        PayloadDialect("customer-io", service: "Customer.io", locations: [MediaLocation(["CIO", "push", "image"])]),
        // Countly/countly-sdk-ios, CountlyNotificationService.m.
        PayloadDialect("countly", service: "Countly", locations: [MediaLocation(["c", "a"])]),
        // Ometria/ometria.ios_sdk, the notification handler's parseNotificationContent.
        PayloadDialect(
            "ometria", service: "Ometria", locations: [MediaLocation(["aps", "alert", "ometria", "imageUrl"])]),
        // segment-integrations/analytics-swift-engage, TwilioEngageServiceExtension.swift: only the first one.
        PayloadDialect(
            "twilio-engage", service: "Twilio Engage (Segment)", locations: [MediaLocation(["media", .first])]),
        // Tencent Cloud, documentation of the push API (Tencent Push Notification Service).
        PayloadDialect("xinge", service: "Xinge (Tencent Push)", locations: [MediaLocation(["xg_media_resources"])]),
        // MotiSig-Public/ios-motisig-sdk, MotiSigRichPushHandler.swift.
        PayloadDialect(
            "motisig", service: "MotiSig",
            locations: ["imageUrl", "image_url", "image"].map { MediaLocation(["_motisig", .key($0)]) }),
        // MOPushPayload.h of MoEngage's MORichNotification framework.
        PayloadDialect(
            "moengage", service: "MoEngage",
            locations: [
                MediaLocation(["moengage", "media-attachment"], [.type: ["moengage", "media-type"]], types: .any)
            ]),
        PayloadDialect("mixpanel", service: "Mixpanel", locations: [MediaLocation(["mp_media_url"])]),
        PayloadDialect(
            "infobip", service: "Infobip", locations: [MediaLocation(["internalData", "atts", .first, "url"])]),
        PayloadDialect(
            "adobe-journey-optimizer", service: "Adobe Journey Optimizer", locations: [MediaLocation(["adb_media"])]),
        PayloadDialect("mapp", service: "Mapp Engage", locations: [MediaLocation(["ios_apx_media"])]),
        PayloadDialect(
            "appcues", service: "Appcues",
            locations: [MediaLocation(["appcues_attachment_url"], [.type: ["appcues_attachment_type"]], types: .any)]),
        PayloadDialect(
            "reteno", service: "Reteno", choice: .allLocations,
            locations: [
                MediaLocation(["es_notification_image"]), MediaLocation(["es_notification_images", .text, .each]),
                MediaLocation(["es_notification_images", .each]),
            ]),
        PayloadDialect(
            "kumulos", service: "Kumulos (Optimove)", locations: [MediaLocation(["attachments", "pictureUrl"])]),
    ]

    /// The keys of a template: alone, or as JSON in `pt_json`.
    private static func cleverTapTemplate(_ object: PayloadPattern) -> [MediaLocation] {
        let still = ["pt_big_img", "pt_gif", "pt_big_img_alt", "pt_gif_alt"]
        return (still + ["pt_img1", "pt_img2", "pt_img3"]).map { MediaLocation(object.appending(.key($0))) }
    }

    /// The form on the device, and those of the API.
    private static let airship = PayloadDialect(
        "airship", service: "Airship",
        locations: airshipLocations(["com.urbanairship.media_attachment"])
            + airshipLocations(["notification", "ios", "media_attachment"], isRequest: true)
            + airshipLocations(["ios", "media_attachment"], isRequest: true)
            + airshipRequest)

    /// Keys of the API for other systems. Source: docs.airship.com, API, Android override, `style`;
    /// urbanairship/python-library, push/payload.py, `web`.
    private static let airshipRequest: [MediaLocation] = [
        MediaLocation(["notification", "android", "style", "big_picture"], isRequest: true).shown(on: .android),
        MediaLocation(["notification", "web", "icon", "url"], isRequest: true).shown(on: .web, as: .icon),
    ]

    /// Crop, time and hidden thumbnail apply to all items.
    private static func airshipLocations(_ media: PayloadPattern, isRequest: Bool = false) -> [MediaLocation] {
        let options = media.appending("options")
        let fields: [MediaLocation.Field: PayloadPattern] = [
            .clippingRect: options.appending("crop"), .thumbnailTime: options.appending("time"),
            .thumbnailHidden: options.appending("hidden"),
        ]
        let each = media.appending("urls").appending(.each)
        return [
            MediaLocation(
                each.appending("url"), fields.merging([.id: each.appending("url_id")]) { $1 },
                thumbnailID: media.appending("thumbnail_id"), isRequest: isRequest),
            MediaLocation(media.appending("url"), fields, isRequest: isRequest),
            MediaLocation(media.appending("url").appending(.each), fields, isRequest: isRequest),
        ]
    }

    /// Airship's old format. Source: `urbanairship/ios-library`, tests of UAMediaAttachmentPayload.
    private static let accengage = PayloadDialect(
        "accengage", service: "Accengage (Airship)",
        locations: [MediaLocation(["acc-atts", .each, "att-url"], [.id: ["acc-atts", .each, "att-id"]])])

    /// The forms of the REST API: in `messages`, in `apple_push`, or the push object alone.
    private static let brazeRequests: [MediaLocation] = [["messages", "apple_push"], ["apple_push"], []].map {
        (steps: [PayloadPattern.Step]) in
        let push = PayloadPattern(steps)
        return MediaLocation(
            push.appending("asset_url"), [.type: push.appending("asset_file_type")],
            types: .fileExtension(standard: nil), isRequest: true)
    }

    /// Keys of the API for other systems. Source: braze.com/docs/api/objects_filters/messaging, `android_object` (the
    /// big picture is `extra.appboy_image_url`) and `web_objects`.
    private static let brazeOthers: [MediaLocation] = [["messages"], []].flatMap {
        (steps: [PayloadPattern.Step]) -> [MediaLocation] in
        let (android, web) = (
            PayloadPattern(steps).appending("android_push"), PayloadPattern(steps).appending("web_push")
        )
        return [
            MediaLocation(android.appending("extra").appending("appboy_image_url"), isRequest: true)
                .shown(on: .android),
            MediaLocation(web.appending("large_image_url"), isRequest: true).shown(on: .web),
            MediaLocation(web.appending("image_url"), isRequest: true).shown(on: .web, as: .icon),
        ]
    }
}

/// Services with attachment options beside the address. Sources: `docs/reference/apple-attachment-rules.md` 2.1.
extension PayloadDialect {
    static let engagementServices: [PayloadDialect] = [
        PayloadDialect(
            "wonderpush", service: "WonderPush",
            locations: [
                MediaLocation(
                    ["_wp", "attachments", .each, "url"],
                    [.id: ["_wp", "attachments", .each, "id"], .type: ["_wp", "attachments", .each, "type"]],
                    otherFields: wonderPushOptions, companions: [["_wp", "attachments", .each, "options"]], types: .any)
            ]),
        PayloadDialect(
            "notifee", service: "Notifee",
            locations: [
                MediaLocation(
                    ["notifee_options", "ios", "attachments", .first, "url"],
                    options(of: ["notifee_options", "ios", "attachments", .first], names: .short)
                        .merging([
                            .id: ["notifee_options", "ios", "attachments", .first, "id"],
                            // Its service extension shows this image when the attachment fails.
                            .fallbackURL: ["notifee_options", "image"],
                        ]) { $1 },
                    namesLocalFiles: true),
                MediaLocation(["notifee_options", "image"], namesLocalFiles: true),
            ]),
        PayloadDialect(
            "rover", service: "Rover",
            locations: [
                MediaLocation(
                    ["rover", "notification", "attachment", "url"],
                    [.type: ["rover", "notification", "attachment", "type"]],
                    types: .keywords([
                        TypeKeyword("IMAGE", .image), TypeKeyword("AUDIO", .audio), TypeKeyword("VIDEO", .movie),
                    ]))
            ]),
        PayloadDialect(
            "karte", service: "Karte",
            locations: [
                MediaLocation(["krt_attributes", .text, "attachment_url"]),
                MediaLocation(["krt_attributes", "attachment_url"]),
            ]),
        PayloadDialect(
            "onesignal", service: "OneSignal",
            locations: [
                MediaLocation(["os_data", "att", .eachMember], namesLocalFiles: true),
                MediaLocation(["att", .eachMember], namesLocalFiles: true),
                MediaLocation(["ios_attachments", .eachMember], namesLocalFiles: true, isRequest: true)
                    .shared(.none, adding: [.android: ["big_picture"], .web: ["chrome_web_image"]]),
            ] + oneSignalRequest),
    ]

    /// Keys of the API for other systems. Source: OneSignal/onesignal-node-api, models/BasicNotificationAllOf.ts.
    private static let oneSignalRequest: [MediaLocation] =
        ["big_picture", "huawei_big_picture", "adm_big_picture"].map { oneSignalKey($0).shown(on: .android) }
        + [oneSignalKey("chrome_web_image").shown(on: .web)]
        + ["chrome_web_icon", "firefox_icon"].map { oneSignalKey($0).shown(on: .web, as: .icon) }
        + [oneSignalKey("chrome_web_badge").shown(on: .web, as: .badge)]

    private static func oneSignalKey(_ key: String) -> MediaLocation { MediaLocation([.key(key)], isRequest: true) }

    /// The client passes the options to iOS unchanged, so the keys may be the names or the values of Apple's constants.
    private static let wonderPushOptions: [[MediaLocation.Field: PayloadPattern]] = OptionNames.allCases.map {
        options(of: ["_wp", "attachments", .each, "options"], names: $0)
    }

    /// The spelling of attachment option keys.
    enum OptionNames: CaseIterable {
        /// `thumbnailTime`.
        case short
        /// `UNNotificationAttachmentOptionsThumbnailTimeKey`.
        case constants
        /// `UNNotificationAttachmentOptionsThumbnailTime`.
        case constantsWithoutKey
        /// `iosUNNotificationAttachmentOptionsThumbnailTimeKey`.
        case constantsForIOS

        func key(_ name: String) -> String {
            let capital = name.prefix(1).uppercased() + name.dropFirst()
            return switch self {
            case .short: name
            case .constants: "UNNotificationAttachmentOptions\(capital)Key"
            case .constantsWithoutKey: "UNNotificationAttachmentOptions\(capital)"
            case .constantsForIOS: "iosUNNotificationAttachmentOptions\(capital)Key"
            }
        }
    }

    static func options(
        of object: PayloadPattern, names: OptionNames
    ) -> [MediaLocation.Field: PayloadPattern] {
        [
            .typeHint: object.appending(.key(names.key("typeHint"))),
            .thumbnailHidden: object.appending(.key(names.key("thumbnailHidden"))),
            .clippingRect: object.appending(.key(names.key("thumbnailClippingRect"))),
            .thumbnailTime: object.appending(.key(names.key("thumbnailTime"))),
        ]
    }
}

/// Services that share a key; those with marks come first. Sources: `docs/reference/apple-attachment-rules.md` 2.1.
extension PayloadDialect {
    static let sharedKeys: [PayloadDialect] = [
        PayloadDialect(
            "openhab", service: "openHAB",
            marks: [
                DialectMark(["media-attachment-url"], prefix: "item:"),
                DialectMark(["media-attachment-url"], prefix: "/"), DialectMark(["on-click"]),
                DialectMark(["reference-id"]), DialectMark(["persistedId"]),
            ], locations: [MediaLocation(["media-attachment-url"])]),
        PayloadDialect(
            "adobe-campaign", service: "Adobe Campaign Standard", locations: [MediaLocation(["media-attachment-url"])]),
        // File names: blueshift-labs/Blueshift-iOS-SDK, BlueshiftExtensionConstants.h: audio.mp3 and video.mp4.
        PayloadDialect(
            "blueshift", service: "Blueshift", choice: .allLocations, marks: blueshiftMarks,
            attachmentTypes: [.mp3, .mpeg4],
            locations: [
                MediaLocation(["image_url"], keys: blueshiftKeys), MediaLocation(["video_url"], keys: blueshiftKeys),
                MediaLocation(["audio_url"], keys: blueshiftKeys), MediaLocation(["gif_url"], keys: blueshiftKeys),
                MediaLocation(["carousel_elements", .each, "image_url"]),
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
