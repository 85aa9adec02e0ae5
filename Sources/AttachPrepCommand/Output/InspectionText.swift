import AttachPrep
import MediaEngine
import RichPush

/// An inspection as a person reads it. Pure.
struct InspectionText {
    let report: InspectionReport

    var lines: [StyledText] {
        let outcome = StyledText(report.plan.outcome.rawValue, TerminalStyle(report.plan.outcome))
        return [StyledText(report.source.url) + "  " + outcome] + (media + plan).map(LabelledRow.text)
    }

    private var media: [(label: String, text: String)] {
        guard let media = report.media else { return [] }
        var rows = [("is", "\(media.format.mimeType), \((report.source.bytes ?? 0).grouped) bytes")]
        if let width = media.width, let height = media.height { rows.append(("size", size(media, width, height))) }
        if let frames = media.frames, frames > 1 { rows.append(("frames", "\(frames)")) }
        if let duration = media.duration { rows.append(("duration", "\((duration * 1000).rounded() / 1000) s")) }
        if let video = media.video { rows.append(("picture", Self.text(video))) }
        rows += media.audio.map { ("sound", Self.text($0)) }
        if media.hasCoverArt { rows.append(("cover", "yes")) }
        return rows
    }

    private func size(_ media: InspectedMedia, _ width: Int, _ height: Int) -> String {
        var parts = ["\(width)x\(height)"]
        if media.orientation != .upright { parts.append("stored turned (orientation \(media.orientation.rawValue))") }
        if let colour = media.colour { parts.append(colour) }
        if media.hasAlpha { parts.append("alpha") }
        if media.hasColourProfile { parts.append("colour profile") }
        return parts.joined(separator: ", ")
    }

    private static func text(_ video: VideoStream) -> String {
        var parts = [video.codec + (video.codecTag.isEmpty ? "" : " (\(video.codecTag))")]
        parts += [video.profile, video.pixelFormat].compactMap { $0 }
        if let rate = video.frameRate { parts.append("\((rate * 100).rounded() / 100) frames a second") }
        if video.sampleAspectRatio != 1 {
            parts.append("pixels \((video.sampleAspectRatio * 1000).rounded() / 1000):1")
        }
        if video.isHDR { parts.append("HDR") }
        return parts.joined(separator: ", ")
    }

    private static func text(_ audio: AudioStream) -> String {
        "\(audio.codec), \(audio.channels) channels, \(audio.sampleRate.grouped) Hz"
    }

    private var plan: [(label: String, text: String)] {
        let plan = report.plan
        var rows: [(String, String)] = []
        if let error = plan.error { rows.append(("error", error.code.rawValue)) }
        rows += plan.reasons.map { ("why", $0) }
        rows += plan.steps.map { ("would", $0) }
        rows += plan.warnings.map { ("warning", "\($0.code.rawValue): \($0.message)") }
        return rows
    }
}
