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

    /// Where a request to FCM's API has the APNs payload.
    private static let request = PayloadPath([.key("message"), .key("apns"), .key("payload")])
}
