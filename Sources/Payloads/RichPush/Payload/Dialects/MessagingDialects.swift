/// Messaging services with a key of their own. Sources: `docs/reference/apple-attachment-rules.md` 2.1.
extension PayloadDialect {
    static let messagingServices: [PayloadDialect] = [
        // appmetrica/push-sdk-ios, AMPPushNotificationPayloadParser.m and AMPAttachmentsLoader.m.
        PayloadDialect(
            "appmetrica", service: "AppMetrica",
            locations: [
                MediaLocation(
                    ["yamp", "a", .each, "l"], [.id: ["yamp", "a", .each, "i"], .typeHint: ["yamp", "a", .each, "t"]])
            ]),
        // WebEngage/WEServiceExtension, WEServiceExtension.swift and WERenderer.swift.
        PayloadDialect(
            "webengage", service: "WebEngage", choice: .allLocations,
            locations: [
                MediaLocation(["expandableDetails", "image"]),
                MediaLocation(["expandableDetails", "items", .each, "image"]),
            ]),
        // hackle-io/hackle-ios-sdk, NotificationData.swift.
        PayloadDialect("hackle", service: "Hackle", locations: [MediaLocation(["hackle", "imageUrl"])]),
        // team-michael/notifly-ios-sdk, MessageData.swift: the type hint comes from both fields.
        PayloadDialect(
            "notifly", service: "Notifly",
            locations: [
                MediaLocation(
                    ["notifly_attachment", .text, "url"],
                    [
                        .type: ["notifly_attachment", .text, "file_extension"],
                        .kind: ["notifly_attachment", .text, "attachment_type"],
                    ],
                    types: .keywords([
                        TypeKeyword("jpeg", .jpeg), TypeKeyword("png", .png), TypeKeyword("gif", .gif),
                        TypeKeyword("mp4", .mpeg4), TypeKeyword("avi", .avi), TypeKeyword("mpg", .mpeg),
                        TypeKeyword("m2v", .mpeg2Video), TypeKeyword("mp3", .mp3), TypeKeyword("m4a", .mpeg4Audio),
                        TypeKeyword("wav", .wave), TypeKeyword("aiff", .aiff),
                    ]))
            ]),
        // attentive-mobile/attentive-ios-sdk, README and Bonni/ATTNNotificationService/NotificationService.swift.
        PayloadDialect(
            "attentive", service: "Attentive",
            locations: [MediaLocation(["attentiveCallbackData", "attentive_image_url"])]),
        // awesomemotive/pushengage-ios-sdk, PEPayLoad.swift and PEOperations.swift.
        PayloadDialect("pushengage", service: "PushEngage", locations: [MediaLocation(["pe", "att"])]),
        // iZooto-App-Push/iZootoiOSSDK, Payload.swift and iZooto.swift.
        PayloadDialect("izooto", service: "iZooto", locations: [MediaLocation(["aps", "alert", "attachment-url"])]),
        // taplytics/taplytics-ios-sdk, PUSH.md.
        PayloadDialect("taplytics", service: "Taplytics", locations: [MediaLocation(["taplytics", "image_url"])]),
        // rongcloud/sealtalk-ios, SealTalkNotificationService/NotificationService.m.
        PayloadDialect("rongcloud", service: "RongCloud", locations: [MediaLocation(["richMediaUri"])]),
    ]
}
