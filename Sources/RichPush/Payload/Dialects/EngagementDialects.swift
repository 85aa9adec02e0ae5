/// Services that send to many apps, with options beside the address. Sources: `apple-attachments.md` 2.1.
extension PayloadDialect {
    static let engagementServices: [PayloadDialect] = [
        PayloadDialect(
            "wonderpush", service: "WonderPush",
            places: [
                MediaPlace(
                    ["_wp", "attachments", .each, "url"],
                    [.id: ["_wp", "attachments", .each, "id"], .type: ["_wp", "attachments", .each, "type"]],
                    otherFields: wonderPushOptions, companions: [["_wp", "attachments", .each, "options"]], types: .any)
            ]),
        PayloadDialect(
            "notifee", service: "Notifee",
            places: [
                MediaPlace(
                    ["notifee_options", "ios", "attachments", .first, "url"],
                    options(of: ["notifee_options", "ios", "attachments", .first], names: .short)
                        .merging([
                            .id: ["notifee_options", "ios", "attachments", .first, "id"],
                            // Its service extension has one picture: what stands behind a broken attachment.
                            .fallbackURL: ["notifee_options", "image"],
                        ]) { $1 },
                    namesLocalFiles: true),
                MediaPlace(["notifee_options", "image"], namesLocalFiles: true),
            ]),
        PayloadDialect(
            "rover", service: "Rover",
            places: [
                MediaPlace(
                    ["rover", "notification", "attachment", "url"],
                    [.type: ["rover", "notification", "attachment", "type"]],
                    types: .words([
                        TypeWord("IMAGE", .image), TypeWord("AUDIO", .audio), TypeWord("VIDEO", .movie),
                    ]))
            ]),
        PayloadDialect(
            "karte", service: "Karte",
            places: [
                MediaPlace(["krt_attributes", .text, "attachment_url"]),
                MediaPlace(["krt_attributes", "attachment_url"]),
            ]),
        PayloadDialect(
            "onesignal", service: "OneSignal",
            places: [
                MediaPlace(["os_data", "att", .eachMember], namesLocalFiles: true),
                MediaPlace(["att", .eachMember], namesLocalFiles: true),
                MediaPlace(["ios_attachments", .eachMember], namesLocalFiles: true, isRequest: true),
            ]),
    ]

    /// Its client hands the options to iOS as they are, so the keys may be Apple's constants or what they stand for.
    private static let wonderPushOptions: [[MediaPlace.Field: PayloadPattern]] = OptionNames.allCases.map {
        options(of: ["_wp", "attachments", .each, "options"], names: $0)
    }

    /// How the options of an attachment are called.
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
    ) -> [MediaPlace.Field: PayloadPattern] {
        [
            .typeHint: object.appending(.key(names.key("typeHint"))),
            .thumbnailHidden: object.appending(.key(names.key("thumbnailHidden"))),
            .clippingRect: object.appending(.key(names.key("thumbnailClippingRect"))),
            .thumbnailTime: object.appending(.key(names.key("thumbnailTime"))),
        ]
    }
}
