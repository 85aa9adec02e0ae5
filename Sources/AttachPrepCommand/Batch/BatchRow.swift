import AttachPrep
import RichPush

/// One result of a batch as a line: what became of it, its name, and the file or the reason. Pure.
struct BatchRow {
    let text: String

    /// - Parameter showsAddress: whether files are where they are served alone, and in no folder.
    init(_ manifest: Manifest, showsAddress: Bool) {
        let outcome = TerminalText.column(manifest.outcome.rawValue, 11)
        let name = TerminalText.column(TerminalText.safe(Self.name(manifest)), 28)
        let time = TerminalText.column(TerminalText.duration(milliseconds: manifest.timings.total), 8, right: true)
        text = "\(outcome) \(name) \(time)  \(TerminalText.safe(Self.result(manifest, showsAddress)))"
    }

    /// The last part of the source: what a person knows it by.
    private static func name(_ manifest: Manifest) -> String {
        let path = manifest.source.url.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map(String.init) ?? manifest.source.url
    }

    private static func result(_ manifest: Manifest, _ showsAddress: Bool) -> String {
        guard let attachment = manifest.attachment else {
            return "\(manifest.error?.code.rawValue ?? "internal"): \(manifest.error?.message ?? "")"
        }
        let place = (showsAddress ? attachment.url : nil) ?? "\(manifest.id)/\(attachment.file)"
        let warnings = manifest.warnings.map { " [\($0.code.rawValue)]" }.joined()
        return "\(manifest.source.mimeType ?? "") \((manifest.source.bytes ?? 0).grouped) -> "
            + "\(place) \(attachment.bytes.grouped)\(warnings)"
    }
}
