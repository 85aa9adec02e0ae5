/// Home automation, and tools that people run themselves. Sources: `apple-attachments.md` 2.1.
extension PayloadDialect {
    static let homeAndTools: [PayloadDialect] = [
        PayloadDialect(
            "home-assistant", service: "Home Assistant",
            places: [
                MediaPlace(
                    ["attachment", "url"],
                    [.type: ["attachment", "content-type"], .thumbnailHidden: ["attachment", "hide-thumbnail"]],
                    companions: [["attachment", "lazy"]],
                    types: .wordsOrUTI([
                        TypeWord("jpeg", .jpeg), TypeWord("jpg", .jpeg), TypeWord("png", .png), TypeWord("gif", .gif),
                        TypeWord("aiff", .aiff), TypeWord("waveformaudio", .wave), TypeWord("mp3", .mp3),
                        TypeWord("mpeg4audio", .mpeg4Audio), TypeWord("mpeg", .mpeg), TypeWord("mpeg2", .mpeg2Video),
                        TypeWord("mpeg4", .mpeg4), TypeWord("avi", .avi),
                    ]))
            ]),
        PayloadDialect(
            "ntfy", service: "ntfy",
            places: [
                MediaPlace(
                    ["attachment_url"],
                    [.type: ["attachment_type"], .name: ["attachment_name"], .bytes: ["attachment_size"]],
                    companions: [["attachment_expires"]], types: .any)
            ]),
        PayloadDialect(
            "flutter", service: "flutter_local_notifications",
            marks: ["filePath", "identifier", "hideThumbnail"].flatMap { key in
                flutterLists.map { DialectMark($0.appending(.each).appending(.key(key))) }
            },
            places: ["filePath", "url"].flatMap { key in
                flutterLists.map { list in
                    MediaPlace(
                        list.appending(.each).appending(.key(key)), flutterFields(list.appending(.each)),
                        namesLocalFiles: true)
                }
            }),
        PayloadDialect(
            "capacitor", service: "Capacitor and Tauri local notifications",
            places: [["attachments"], ["notifications", .each, "attachments"], ["extra", "attachments"]].map {
                (steps: [PayloadPattern.Step]) in
                let attachment = PayloadPattern(steps + [.each])
                let object = attachment.appending("options")
                return MediaPlace(
                    attachment.appending("url"),
                    options(of: object, names: .constantsForIOS).merging([.id: attachment.appending("id")]) { $1 },
                    otherFields: [
                        options(of: object, names: .short), options(of: object, names: .constants),
                        flutterFields(attachment),
                    ], companions: [object], namesLocalFiles: true)
            }),
    ]

    private static let flutterLists: [PayloadPattern] = [["attachments"], ["platformSpecifics", "attachments"]]

    /// It has neither a type hint nor a time.
    private static func flutterFields(_ attachment: PayloadPattern) -> [MediaPlace.Field: PayloadPattern] {
        [
            .id: attachment.appending("identifier"), .thumbnailHidden: attachment.appending("hideThumbnail"),
            .clippingRect: attachment.appending("thumbnailClippingRect"),
        ]
    }
}
