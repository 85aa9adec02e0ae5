import AttachPrep
import RichPush

/// A manifest as a person reads it: what it was, what became of it, why, and how long each stage took. Pure.
struct ManifestText {
    let manifest: Manifest
    /// The folder of results; nil where they are elsewhere, and have addresses.
    let output: String?

    /// The lines, the first one naming the source and what became of it.
    var lines: [StyledText] {
        let source = StyledText(manifest.source.url) + "  "
        let outcome = StyledText(manifest.outcome.rawValue, TerminalStyle(manifest.outcome))
        guard let attachment = manifest.attachment else {
            return [source + outcome] + rejected.map(LabelledRow.text)
        }
        let local = "\(manifest.id)/\(attachment.file)"
        let place = output.map { "\($0)/\(local)" } ?? attachment.url ?? local
        return [source + outcome + "  \(place)"] + delivered(attachment).map(LabelledRow.text)
    }

    private var rejected: [(label: String, text: String)] {
        var rows: [(String, String)] = []
        if manifest.source.bytes != nil { rows.append(("was", was)) }
        if let error = manifest.error {
            rows.append(("error", error.code.rawValue + (error.retryable ? " (trying again may help)" : "")))
            rows.append(("why", error.message))
        }
        rows.append(("time", time))
        return rows
    }

    private func delivered(_ attachment: ManifestFile) -> [(label: String, text: String)] {
        var rows = [("was", was), ("became", became(attachment))]
        rows += manifest.reasons.map { ("why", $0) }
        if let thumbnail = manifest.thumbnail { rows.append(("thumbnail", Self.text(thumbnail))) }
        if let crop = manifest.crop { rows.append(("crop", Self.text(crop))) }
        rows += manifest.warnings.map { ("warning", "\($0.code.rawValue): \($0.message)") }
        if let fetch = manifest.deviceFetch {
            let times = NetworkProfile.allCases.compactMap { profile in
                fetch[profile.rawValue].map { "\(profile.rawValue) \($0) s" }
            }
            rows.append(("on device", times.joined(separator: ", ")))
        }
        rows.append(("time", time))
        return rows
    }

    private var was: String {
        let source = manifest.source
        let claimed = source.declaredMIMEType.flatMap { $0 == source.mimeType ? nil : " (the server says \($0))" }
        return "\(source.mimeType ?? "unknown")\(claimed ?? ""), \((source.bytes ?? 0).grouped) bytes"
    }

    private func became(_ file: ManifestFile) -> String {
        var parts = [file.uti, "\(file.bytes.grouped) bytes"]
        if let width = file.width, let height = file.height { parts.append("\(width)x\(height)") }
        if let frames = file.frames, frames > 1 { parts.append("\(frames) frames") }
        if let duration = file.duration { parts.append("\((duration * 100).rounded() / 100) s") }
        return parts.joined(separator: ", ")
    }

    private static func text(_ picture: ManifestPicture) -> String {
        let time = picture.time.map { ", at \(($0 * 1000).rounded() / 1000)" } ?? ""
        return
            "\(picture.file), \(picture.width)x\(picture.height), \(picture.bytes.grouped) bytes\(time)"
    }

    private var time: String {
        let timings = manifest.timings
        let stages = [
            ("dns", timings.dns), ("connect", timings.connect), ("tls", timings.tls),
            ("first byte", timings.firstByte), ("transfer", timings.transfer), ("identify", timings.identify),
            ("inspect", timings.inspect), ("render", timings.render), ("publish", timings.publish),
        ]
        let spent = stages.filter { $0.1 > 0 }.map { "\($0.0) \(TerminalText.duration(milliseconds: $0.1))" }
        return TerminalText.duration(milliseconds: timings.total)
            + (spent.isEmpty ? "" : " (\(spent.joined(separator: ", ")))")
    }
}
