/// Platforms that other services send through. Sources: `apple-attachments.md` 2.1.
extension PayloadDialect {
    static let platforms: [PayloadDialect] = [
        PayloadDialect(
            "fcm", service: "Firebase Cloud Messaging",
            places: [
                MediaPlace(["fcm_options", "image"]),
                MediaPlace(["message", "apns", "fcm_options", "image"], root: request),
                MediaPlace(["message", "notification", "image"], root: request),
                MediaPlace(["apns", "fcm_options", "image"], root: PayloadPath([.key("apns"), .key("payload")])),
            ]),
        // aws-amplify/amplify-swift, PinpointNotificationPayload.swift.
        PayloadDialect("pinpoint", service: "Amazon Pinpoint", places: [MediaPlace(["data", "media-url"])]),
        PayloadDialect(
            "expo", service: "Expo",
            places: [
                MediaPlace(["_richContent", "image"]), MediaPlace(["body", "_richContent", "image"]),
                MediaPlace(["data", "_richContent", "image"]), MediaPlace(["body", .text, "_richContent", "image"]),
                MediaPlace(["richContent", "image"], isRequest: true),
            ]),
    ]

    /// It spells `mutable-content` in its own way.
    static let firebaseAdmin = "firebase-admin"

    /// What Firebase's SDKs for servers take; last of all, since others have `notification.imageUrl` too. Source:
    /// firebase/firebase-admin-node, messaging-api.ts.
    static let firebaseAdminSDKs = [
        PayloadDialect(
            firebaseAdmin, service: "Firebase Admin SDK",
            marks: ["apns", "token", "tokens", "topic", "condition"].map { DialectMark([.key($0)]) },
            places: [["apns", "fcmOptions", "imageUrl"], ["notification", "imageUrl"]].map {
                MediaPlace($0, root: PayloadPath([.key("apns"), .key("payload")]))
            })
    ]

    /// Where a request to FCM's API has the APNs payload.
    private static let request = PayloadPath([.key("message"), .key("apns"), .key("payload")])
}
