import AttachPrep
import RichPush

/// One result of a batch as a line: what became of it, its name, and the file or the reason. Pure.
struct BatchRow {
    let text: StyledText

    /// - Parameters:
    ///   - showsAddress: whether files are where they are served alone, and in no folder.
    ///   - display: who reads it: rows come one by one, so their columns follow from its width alone.
    init(_ manifest: Manifest, showsAddress: Bool, display: Display) {
        let outcome = StyledText(manifest.outcome.rawValue, TerminalStyle(manifest.outcome)).filled(to: 11)
        let time = StyledText(TerminalText.duration(milliseconds: manifest.timings.total), .dim)
        let hasTime = (display.columns ?? .max) >= Self.columnsWithTime
        text =
            outcome + " " + Self.name(manifest.source.url, display)
            + (hasTime ? StyledText(" ") + time.filled(to: 8, atRight: true) : StyledText())
            + "  " + Self.result(manifest, showsAddress)
    }

    private static let nameWidth = 28
    /// On a narrower terminal the reason says more than the time.
    private static let columnsWithTime = 60

    /// The column grows with the terminal from 12 to 40; in files names are whole.
    private static func name(_ url: String, _ display: Display) -> StyledText {
        let name = StyledText(SourceName.text(url))
        guard let columns = display.columns else { return name.filled(to: nameWidth) }
        let width = min(max(columns * nameWidth / 80, 12), 40)
        return name.cutInside(to: width, mark: display.mark).filled(to: width)
    }

    private static func result(_ manifest: Manifest, _ showsAddress: Bool) -> StyledText {
        guard let attachment = manifest.attachment else {
            let code = StyledText(manifest.error?.code.rawValue ?? "internal", .bad)
            return code + ": \(manifest.error?.message ?? "")"
        }
        let place = (showsAddress ? attachment.url : nil) ?? "\(manifest.id)/\(attachment.file)"
        let source = StyledText("\(manifest.source.mimeType ?? "") \((manifest.source.bytes ?? 0).grouped)", .dim)
        let warnings = manifest.warnings.map { " [\($0.code.rawValue)]" }.joined()
        return source + " -> \(place) \(attachment.bytes.grouped)" + StyledText(warnings, .warning)
    }
}
