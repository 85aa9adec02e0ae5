/// Firebase Cloud Messaging: one message for iOS, Android and browsers.
extension PayloadDialect {
    /// The form on the device, and the API's with `message` around it and without.
    ///
    /// Without `message` it is what SDKs build and take: kreait/firebase-php, CloudMessage.php and Notification.php;
    /// firebase/firebase-admin-python, _messaging_encoder.py; firebase/firebase-admin-go, messaging.go.
    static let firebaseMessaging = PayloadDialect(
        "fcm", service: "Firebase Cloud Messaging",
        locations: [MediaLocation(["fcm_options", "image"])]
            + messageLocations(["message"], names: .api) + messageLocations([], names: .api)
            // Firebase's documentation mixes the spellings in samples for Node (android/send-image).
            + [
                MediaLocation(["android", "notification", "imageUrl"]).shown(on: .android),
                MediaLocation(["notification", "imageUrl"]).shown(on: .android).shared(.always),
            ])

    /// The format of Firebase's Admin SDK for Node; tried last, since other services also use `notification.imageUrl`.
    ///
    /// Source: firebase/firebase-admin-node, messaging-api.ts (`ApnsFcmOptions.imageUrl`, `Aps.mutableContent`), which
    /// messaging-internal.ts renames to `image` and `mutable-content` (`validateApnsFcmOptions`, `validateAps`).
    static let firebaseAdminSDKs = [
        PayloadDialect(
            "firebase-admin", service: "Firebase Admin SDK",
            marks: ["apns", "android", "webpush", "token", "tokens", "topic", "condition"].map {
                DialectMark([.key($0)])
            }, locations: messageLocations([], names: .node))
    ]

    /// The spelling of keys in a message.
    private enum MessageNames {
        case api, node

        var options: String { self == .api ? "fcm_options" : "fcmOptions" }
        var image: String { self == .api ? "image" : "imageUrl" }
    }

    /// The locations in a message; the image of its `notification` is shown by all systems whose block has none.
    private static func messageLocations(_ message: [PayloadPattern.Step], names: MessageNames) -> [MediaLocation] {
        let top = PayloadPattern(message)
        let apns = top.appending("apns").appending(.key(names.options)).appending(.key(names.image))
        let android = top.appending("android").appending("notification").appending(.key(names.image))
        let web = top.appending("webpush").appending("notification")
        let additions: [MediaTarget: PayloadPattern] = [.android: android, .web: web.appending("image")]
        let locations = [
            MediaLocation(apns).shared(.none, adding: additions),
            MediaLocation(top.appending("notification").appending(.key(names.image)))
                .shared(.always, adding: additions.merging([.ios: apns]) { $1 }),
            MediaLocation(android).shown(on: .android),
            MediaLocation(web.appending("image")).shown(on: .web),
            MediaLocation(web.appending("icon")).shown(on: .web, as: .icon),
            MediaLocation(web.appending("badge")).shown(on: .web, as: .badge),
            // Firebase's documentation writes the image here (android/send-image); it is an HTTP header to the push
            // service, which no browser receives.
            MediaLocation(top.appending("webpush").appending("headers").appending("image"))
                .shown(on: .web, isIgnored: true),
        ]
        return locations.map { location in
            var location = location
            let root: [PayloadPath.Step] = message.isEmpty ? [] : [.key("message")]
            location.root = PayloadPath(root + [.key("apns"), .key("payload")])
            return location
        }
    }
}
