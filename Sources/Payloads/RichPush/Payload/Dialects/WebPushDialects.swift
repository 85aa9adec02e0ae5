/// Messages that a browser receives as they are.
///
/// Sources: the Notifications API (`NotificationOptions`: `image`, `icon`, `badge`); WebKit/explainers,
/// DeclarativeWebPush; angular/angular, the service worker's `notification`.
extension PayloadDialect {
    static let webPush: [PayloadDialect] = [
        PayloadDialect(
            "web-push", service: "web push", required: [DialectMark(["title"], prefix: "")],
            excluded: messageKeys.map { [.key($0)] }
                + ["apns", "android", "webpush", "notification", "data", "token", "topic"].map {
                    ["message", .key($0)]
                },
            locations: notificationLocations([]) + notificationLocations(["options"])),
        PayloadDialect(
            "declarative-web-push", service: "declarative web push",
            marks: [DialectMark(["web_push"])]
                + ["icon", "badge"].map { DialectMark(["notification", .key($0)], prefix: "http") }
                + ["navigate", "actions", "vibrate", "requireInteraction", "renotify", "silent"].map {
                    DialectMark(["notification", .key($0)])
                }, required: [DialectMark(["notification", "title"], prefix: "")],
            excluded: messageKeys.map { [.key($0)] } + [["android"], ["webpush"], ["priority"]],
            locations: notificationLocations(["notification"])),
    ]

    private static func notificationLocations(_ notification: PayloadPattern) -> [MediaLocation] {
        [("image", MediaTarget.Role.image), ("icon", .icon), ("badge", .badge)].map { key, role in
            MediaLocation(notification.appending(.key(key))).shown(on: .web, as: role)
        }
    }

    /// Keys of messages to other services and systems, which web push messages do not have.
    private static let messageKeys =
        barkKeys + [
            "aps", "apns", "APNS", "APNS_SANDBOX", "to", "token", "tokens", "registration_ids", "topic", "condition",
            "app_id", "notifications", "platform",
        ]
}

/// Live Activities, whose media the app's own views show.
///
/// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications". The keys are the app's.
extension PayloadDialect {
    static let liveActivities: [PayloadDialect] = [
        PayloadDialect(
            "live-activity", service: "Live Activities", choice: .allLocations,
            required: [DialectMark(["aps", "content-state"])],
            locations: ["content-state", "attributes"].map { key in
                var location = MediaLocation(["aps", .key(key), .mediaBelow])
                location.isLiveActivity = true
                return location
            })
    ]
}

/// The picture of the sender, for communication notifications.
extension PayloadDialect {
    /// The keys that apps and services use for the sender's picture.
    ///
    /// Sources: sendbird.com/docs, push notification payload (`sendbird.sender.profile_url`); invertase/notifee,
    /// NotificationIOS.ts (`communicationInfo`).
    static let avatars = PayloadDialect(
        "avatar", service: "Avatars", choice: .allLocations,
        locations: ([
            ["sendbird", "sender", "profile_url"], ["notifee_options", "ios", "communicationInfo", "sender", "avatar"],
            ["notifee_options", "ios", "communicationInfo", "groupAvatar"],
        ] + ownKeys([]) + ownKeys(["data"])).map { MediaLocation($0).shown(on: .avatar) })

    private static func ownKeys(_ object: PayloadPattern) -> [PayloadPattern] {
        let names = ["avatar", "avatar_url", "avatarUrl", "avatarURL"]
        let sender = ["sender_avatar", "senderAvatar", "sender_avatar_url", "senderAvatarUrl", "sender_image_url"]
        return (names + sender).map { object.appending(.key($0)) }
            + ["sender", "user", "author"].flatMap { person in
                (names + ["image", "photo", "profile_url"]).map {
                    object.appending(.key(person)).appending(.key($0))
                }
            }
    }

    /// The dialects whose media a payload may have beside that of its own dialect.
    static func besides(_ media: PayloadMedia) -> [PayloadDialect] {
        guard media.dialect.onlyTarget == nil, !media.isLiveActivity else { return [] }
        var dialects = [avatars.inside(media.root)]
        if let first = media.root.steps.first, [.key("message"), .key("apns")].contains(first) {
            dialects.append(firebaseMessaging)
            dialects.append(avatars.inside(first == .key("message") ? PayloadPath([first]) : PayloadPath()))
        }
        return dialects
    }
}
