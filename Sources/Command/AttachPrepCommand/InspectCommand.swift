import ArgumentParser
import AttachPrep
import AttachPrepModel
import MediaEngine
import MediaTypes

/// `attachprep inspect SOURCE...`
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the format of sources, whether iOS attaches them, and the plan to prepare them.")

    @Argument(help: ArgumentHelp("http, https or file URLs, or paths.", valueName: "source"))
    var sources: [String]

    @OptionGroup(title: "Results") var report: ReportOptionGroup
    @OptionGroup(title: "Request") var request: RequestOptionGroup
    @OptionGroup(title: "Machine") var machine: MachineOptionGroup

    func run() async throws {
        let (sources, request, format) = (sources, request, report.format)
        let session = try await PreparerSession(machine: machine, output: nil, report: report)
        let reports = await Interruption.cancellingOnInterrupt {
            var reports: [InspectionReport] = []
            for source in sources where !Task.isCancelled {
                let inspected = await Self.inspect(source, request: request, session: session)
                Self.show(inspected, format: format)
                reports.append(inspected)
            }
            return reports
        }
        await session.shutdown()
        if reports.contains(where: { $0.plan.error?.code == .cancelled }) || reports.count < sources.count {
            throw ExitCodeError.interrupted
        }
        if reports.contains(where: { $0.plan.outcome == .rejected }) { throw ExitCodeError.someRejected }
    }

    private static func inspect(_ source: String, request: RequestOptionGroup, session: PreparerSession) async
        -> InspectionReport
    {
        do {
            return await session.preparer.inspect(try request.request(for: source))
        } catch {
            return InspectionReport(rejecting: source, error)
        }
    }

    private static func show(_ report: InspectionReport, format: OutputFormat) {
        switch format {
        case .json: StandardStreams.result((try? report.json()) ?? "")
        case .text: StandardStreams.result(InspectionText(report: report).lines)
        }
    }
}

struct InspectionText {
    let report: InspectionReport

    var lines: [StyledText] {
        let outcome = StyledText(report.plan.outcome.rawValue, TerminalStyle(report.plan.outcome))
        return [StyledText(report.source.url) + "  " + outcome] + (media + plan).map(LabeledRow.text)
    }

    private var media: [(label: String, text: String)] {
        guard let media = report.media else { return [] }
        var rows = [("type", "\(media.format.mimeType), \((report.source.bytes ?? 0).grouped) bytes")]
        if let width = media.width, let height = media.height {
            rows.append(("size", size(media, width: width, height: height)))
        }
        if let frames = media.frames, frames > 1 { rows.append(("frames", "\(frames)")) }
        if let duration = media.duration { rows.append(("duration", "\((duration * 1000).rounded() / 1000) s")) }
        if let video = media.video { rows.append(("video", Self.text(video))) }
        rows += media.audio.map { ("audio", Self.text($0)) }
        if media.hasCoverArt { rows.append(("cover", "yes")) }
        return rows
    }

    private func size(_ media: InspectedMedia, width: Int, height: Int) -> String {
        var parts = ["\(width)x\(height)"]
        if media.orientation != .upright { parts.append("rotated (orientation \(media.orientation.rawValue))") }
        if let color = media.color { parts.append(color) }
        if media.hasAlpha { parts.append("alpha") }
        if media.hasColorProfile { parts.append("color profile") }
        return parts.joined(separator: ", ")
    }

    private static func text(_ video: VideoStream) -> String {
        var parts = [video.codec + (video.codecTag.isEmpty ? "" : " (\(video.codecTag))")]
        parts += [video.profile, video.pixelFormat].compactMap { $0 }
        if let rate = video.frameRate { parts.append("\((rate * 100).rounded() / 100) fps") }
        if video.sampleAspectRatio != 1 {
            parts.append("pixel aspect ratio \((video.sampleAspectRatio * 1000).rounded() / 1000):1")
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
        rows += plan.steps.map { ("plan", $0) }
        rows += plan.warnings.map { ("warning", "\($0.code.rawValue): \($0.message)") }
        return rows
    }
}
