import ArgumentParser
import AttachPrep
import AttachPrepModel
import AttachPrepPages
import MediaTypes

/// `attachprep prepare SOURCE...`
struct PrepareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract: "Prepare URLs or files.",
        discussion: """
            Each source gets a subfolder of the output folder with the attachment, its thumbnail, the crop if \
            requested, and manifest.json. Results are printed in the order of the sources.
            """)

    @Argument(help: ArgumentHelp("http, https or file URLs, or paths.", valueName: "source"))
    var sources: [String]

    @OptionGroup(title: "Results") var report: ReportOptionGroup
    @OptionGroup(title: "Page") var preview: PreviewOptionGroup
    @OptionGroup(title: "Output") var output: OutputOptionGroup
    @OptionGroup(title: "Publish") var publish: PublishOptionGroup
    @OptionGroup(title: "Request") var request: RequestOptionGroup
    @OptionGroup(title: "Machine") var machine: MachineOptionGroup

    func run() async throws {
        let (sources, report, output, request) = (sources, report, output, request)
        let page = try preview.file()
        let collector = page.map { _ in ReportCollector(.preview, count: sources.count) }
        let session = try await PreparerSession(
            machine: machine, output: output, publish: publish, report: report, requests: sources.count)
        let end = await Interruption.cancellingOnInterrupt {
            await session.each(Array(sources.enumerated()), inOrder: true) { number, source in
                await session.prepare(source, resume: output.resume, collector: collector?.slot(number)) {
                    try request.request(for: source)
                }
            } show: { manifest in
                StandardStreams.show(manifest, format: report.format, output: session.outputFolder)
            }
        }
        await session.shutdown()
        if let page, let collector { try page.write(.preview(collector.items)) }
        if end.isCancelled { throw ExitCodeError.interrupted }
        if end.failures > 0 { throw ExitCodeError.someRejected }
    }
}

extension StandardStreams {
    static func show(_ manifest: Manifest, format: OutputFormat, output: String?) {
        switch format {
        case .json: result((try? String(manifest.json())) ?? "")
        case .text: result(ManifestText(manifest: manifest, output: output).lines)
        }
    }
}

/// A manifest as text: source, outcome, reasons and the time of each stage.
struct ManifestText {
    let manifest: Manifest
    /// The output folder; nil if results are published to a bucket and shown by URL.
    let output: String?

    /// The lines; the first one contains source, outcome and location.
    var lines: [StyledText] {
        let source = StyledText(manifest.source.url) + "  "
        let outcome = StyledText(manifest.outcome.rawValue, TerminalStyle(manifest.outcome))
        guard let attachment = manifest.attachment else {
            return [source + outcome] + rejected.map(LabeledRow.text)
        }
        let local = manifest.localPath(of: attachment)
        let location = output.map { "\($0)/\(local)" } ?? attachment.url ?? local
        return [source + outcome + "  \(location)"] + delivered(attachment).map(LabeledRow.text)
    }

    private var rejected: [(label: String, text: String)] {
        var rows: [(String, String)] = []
        if manifest.source.bytes != nil { rows.append(("was", was)) }
        if let error = manifest.error {
            rows.append(("error", error.code.rawValue + (error.retryable ? " (retryable)" : "")))
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
        rows += (manifest.renditions ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, Self.text($0.value)) }
        if let secret = manifest.sealed?.secret { rows.append(("secret", secret.text)) }
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
        let claimed = source.declaredMIMEType.flatMap { $0 == source.mimeType ? nil : " (declared as \($0))" }
        return "\(source.mimeType ?? "unknown")\(claimed ?? ""), \((source.bytes ?? 0).grouped) bytes"
    }

    private func became(_ file: ManifestFile) -> String {
        var parts = [file.uti, "\(file.bytes.grouped) bytes"]
        if let width = file.width, let height = file.height { parts.append("\(width)x\(height)") }
        if let frames = file.frames, frames > 1 { parts.append("\(frames) frames") }
        if let duration = file.duration { parts.append("\((duration * 100).rounded() / 100) s") }
        return parts.joined(separator: ", ")
    }

    private static func text(_ image: ManifestImage) -> String {
        let time = image.time.map { ", at \(($0 * 1000).rounded() / 1000)" } ?? ""
        return
            "\(image.file), \(image.width)x\(image.height), \(image.bytes.grouped) bytes\(time)"
    }

    private static func text(_ picture: ManifestRendition) -> String {
        "\(picture.file), \(picture.width)x\(picture.height), \(picture.bytes.grouped) bytes"
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

extension Manifest {
    /// The path of the attachment in the output folder.
    func localPath(of attachment: ManifestFile) -> String {
        let file = PublishedFile(name: attachment.file, sha256: attachment.sha256)
        return sealed == nil ? "\(id)/\(attachment.file)" : file.contentPath
    }
}

/// An indented row of a label and a text.
enum LabeledRow {
    static func text(_ row: (label: String, text: String)) -> StyledText {
        let label = StyledText(row.label, style(of: row.label)).filled(to: 10)
        return StyledText("  ") + label + StyledText(" \(row.text)", row.label == "time" ? .dim : .plain)
    }

    private static func style(of label: String) -> TerminalStyle {
        switch label {
        case "error": .bad
        case "warning": .warning
        default: .dim
        }
    }
}
