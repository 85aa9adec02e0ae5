import ArgumentParser

/// The page with the drawn notification: shared by `prepare` and `payload`.
struct PreviewOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write a page that shows the notification as a phone draws it, raw and prepared.", valueName: "file"))
    var preview: String?

    /// - Throws: `ValidationError` for a path at which no file can appear.
    func file() throws -> ReportFile? {
        try preview.map { try ReportFile(path: $0, option: "--preview") }
    }
}
