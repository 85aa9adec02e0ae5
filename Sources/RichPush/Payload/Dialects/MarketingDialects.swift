/// Services for marketing messages with keys of their own. Sources: `apple-attachments.md` 2.1.
extension PayloadDialect {
    static let marketingServices: [PayloadDialect] = [
        airship, accengage,
        PayloadDialect(
            "braze", service: "Braze",
            places: [
                MediaPlace(["ab", "att", "url"], [.type: ["ab", "att", "type"]], types: .fileExtension(standard: nil))
            ] + brazeRequests),
        PayloadDialect(
            "clevertap", service: "CleverTap", choice: .allPlaces,
            places: [
                MediaPlace(
                    ["ct_mediaUrl"], [.type: ["ct_mediaType"]],
                    types: .words([
                        TypeWord("image", .image), TypeWord("video", .movie), TypeWord("audio", .audio),
                        TypeWord("gif", .gif),
                    ])),
                // A carousel: CleverTap/CTNotificationContent, README.
                MediaPlace(["ct_ContentSlider", "items", .each, "imageUrl"]),
            ]),
        PayloadDialect("iterable", service: "Iterable", places: [MediaPlace(["itbl", "attachment-url"])]),
        PayloadDialect("batch", service: "Batch", places: [MediaPlace(["com.batch", "at", "u"])]),
        PayloadDialect(
            "swrve", service: "Swrve",
            places: [
                // The deep link changes with the address: Swrve/swrve-ios-sdk, SwrveNotificationManager.m.
                MediaPlace(
                    ["_sw", "media", "url"], [.fallbackURL: ["_sw", "media", "fallback_url"]],
                    companions: [["_sw", "media", "fallback_sd"]],
                    fallbackMoves: [FallbackMove(from: ["_sw", "media", "fallback_sd"], to: ["_sd"])]),
                MediaPlace(["_sw", "media", "fallback_url"]),
            ]),
        PayloadDialect("salesforce", service: "Salesforce Marketing Cloud", places: [MediaPlace(["_mediaUrl"])]),
        PayloadDialect(
            "klaviyo", service: "Klaviyo",
            places: [
                MediaPlace(["rich-media"], [.type: ["rich-media-type"]], types: .fileExtension(standard: "jpg"))
            ]),
        PayloadDialect("customer-io", service: "Customer.io", places: [MediaPlace(["CIO", "push", "image"])]),
        // Countly/countly-sdk-ios, CountlyNotificationService.m.
        PayloadDialect("countly", service: "Countly", places: [MediaPlace(["c", "a"])]),
        // Ometria/ometria.ios_sdk, the notification handler's parseNotificationContent.
        PayloadDialect("ometria", service: "Ometria", places: [MediaPlace(["aps", "alert", "ometria", "imageUrl"])]),
        // segment-integrations/analytics-swift-engage, TwilioEngageServiceExtension.swift: the first one alone.
        PayloadDialect("twilio-engage", service: "Twilio Engage (Segment)", places: [MediaPlace(["media", .first])]),
        // Tencent Cloud, documentation of the push API (Tencent Push Notification Service).
        PayloadDialect("xinge", service: "Xinge (Tencent Push)", places: [MediaPlace(["xg_media_resources"])]),
        // MotiSig-Public/ios-motisig-sdk, MotiSigRichPushHandler.swift.
        PayloadDialect(
            "motisig", service: "MotiSig",
            places: ["imageUrl", "image_url", "image"].map { MediaPlace(["_motisig", .key($0)]) }),
        // MOPushPayload.h of MoEngage's MORichNotification framework.
        PayloadDialect(
            "moengage", service: "MoEngage",
            places: [
                MediaPlace(["moengage", "media-attachment"], [.type: ["moengage", "media-type"]], types: .any)
            ]),
        PayloadDialect("mixpanel", service: "Mixpanel", places: [MediaPlace(["mp_media_url"])]),
        PayloadDialect("infobip", service: "Infobip", places: [MediaPlace(["internalData", "atts", .first, "url"])]),
        PayloadDialect(
            "adobe-journey-optimizer", service: "Adobe Journey Optimizer", places: [MediaPlace(["adb_media"])]),
        PayloadDialect("mapp", service: "Mapp Engage", places: [MediaPlace(["ios_apx_media"])]),
        PayloadDialect(
            "appcues", service: "Appcues",
            places: [MediaPlace(["appcues_attachment_url"], [.type: ["appcues_attachment_type"]], types: .any)]),
        PayloadDialect(
            "reteno", service: "Reteno", choice: .allPlaces,
            places: [
                MediaPlace(["es_notification_image"]), MediaPlace(["es_notification_images", .text, .each]),
                MediaPlace(["es_notification_images", .each]),
            ]),
        PayloadDialect(
            "kumulos", service: "Kumulos (Optimove)", places: [MediaPlace(["attachments", "pictureUrl"])]),
    ]

    /// On the device, and as its API takes it.
    private static let airship = PayloadDialect(
        "airship", service: "Airship",
        places: airshipPlaces(["com.urbanairship.media_attachment"])
            + airshipPlaces(["notification", "ios", "media_attachment"], isRequest: true)
            + airshipPlaces(["ios", "media_attachment"], isRequest: true))

    /// The crop, the time and whether the thumbnail is hidden are said once, for all.
    private static func airshipPlaces(_ media: PayloadPattern, isRequest: Bool = false) -> [MediaPlace] {
        let options = media.appending("options")
        let fields: [MediaPlace.Field: PayloadPattern] = [
            .clippingRect: options.appending("crop"), .thumbnailTime: options.appending("time"),
            .thumbnailHidden: options.appending("hidden"),
        ]
        let each = media.appending("urls").appending(.each)
        return [
            MediaPlace(
                each.appending("url"), fields.merging([.id: each.appending("url_id")]) { $1 },
                thumbnailID: media.appending("thumbnail_id"), isRequest: isRequest),
            MediaPlace(media.appending("url"), fields, isRequest: isRequest),
            MediaPlace(media.appending("url").appending(.each), fields, isRequest: isRequest),
        ]
    }

    /// Airship's older form. Source: `urbanairship/ios-library`, tests of UAMediaAttachmentPayload.
    private static let accengage = PayloadDialect(
        "accengage", service: "Accengage (Airship)",
        places: [MediaPlace(["acc-atts", .each, "att-url"], [.id: ["acc-atts", .each, "att-id"]])])

    /// What the REST API takes, as an object of its `messages` or alone.
    private static let brazeRequests: [MediaPlace] = [["messages", "apple_push"], ["apple_push"], []].map {
        (steps: [PayloadPattern.Step]) in
        let push = PayloadPattern(steps)
        return MediaPlace(
            push.appending("asset_url"), [.type: push.appending("asset_file_type")],
            types: .fileExtension(standard: nil), isRequest: true)
    }
}
