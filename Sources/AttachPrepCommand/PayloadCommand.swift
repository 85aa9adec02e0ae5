import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import AttachPrepPages
import FoundationEssentials
import Logging
import PushPayload
import RichPush
import SQLiteQueue

/// `attachprep payload FILE`
struct PayloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "payload",
        abstract: "Prepare the media of an APNs payload and rewrite its URLs.",
        discussion: """
            Finds the media URLs in a payload, prepares the media into the output folder, and prints the payload with \
            the new URLs, below --base-url or in the bucket of --publish. The rest of the payload is unchanged. \
            Warnings go to standard error.

              attachprep payload push.json --output public --base-url https://media.example/push
              attachprep payload push.json --check
              attachprep payload --list-dialects
            """)

    @Argument(help: ArgumentHelp("JSON file of the payload; - for standard input.", valueName: "file"))
    var file: String?

    @OptionGroup(title: "Payload") var payload: PayloadOptionGroup
    @OptionGroup(title: "Receipts") var receipts: ReceiptOptionGroup
    @OptionGroup(title: "Results") var report: ReportOptionGroup
    @OptionGroup(title: "Page") var preview: PreviewOptionGroup
    @OptionGroup(title: "Output") var output: OutputOptionGroup
    @OptionGroup(title: "Publish") var publish: PublishOptionGroup
    @OptionGroup(title: "Request") var request: RequestOptionGroup
    @OptionGroup(title: "Machine") var machine: MachineOptionGroup

    func validate() throws {
        guard !payload.listDialects else { return }
        _ = try payload.silenced()
        guard file != nil else { throw ValidationError("Give the file of a payload, or - for standard input.") }
        guard !payload.check || preview.preview == nil else {
            throw ValidationError("--check downloads nothing, so --preview has nothing to show; omit one of them.")
        }
        guard !payload.noNeutral || receipts.campaign == nil else {
            throw ValidationError("--campaign requires the object that --no-neutral omits; give only one of them.")
        }
        guard try payload.check || output.baseURL != nil || publish.target().isRemote else {
            throw ValidationError(
                "--base-url is missing; give the public URL of the output folder, or publish to a bucket with "
                    + "--publish. To only check the payload, use --check.")
        }
    }

    func run() async throws {
        guard let file, !payload.listDialects else {
            return StandardStreams.result(DialectTable.table)
        }
        let dialect = try payload.row()
        let bytes = try InputFile(path: file, name: "payload", remedy: "a JSON file")
            .bytes(max: Limits.payloadInputBytesMax)
        do {
            let rewriter = try PayloadRewriter(bytes, dialect: dialect)
            if payload.check { try check(rewriter, bytes.count) } else { try await rewrite(rewriter) }
        } catch let error as AttachPrepError {
            StandardStreams.note("attachprep: \(error.code.rawValue): \(TerminalText.safe(error.message))")
            throw ExitCodeError.someRejected
        }
    }

    private func check(_ rewriter: PayloadRewriter, _ bytes: Int) throws {
        let found = PayloadReport(rewriter, silenced: try payload.silenced())
        switch report.format {
        case .json: StandardStreams.result(try found.json())
        case .text: StandardStreams.result(found.lines)
        }
        if !found.isShown { throw ExitCodeError.someRejected }
    }

    private func rewrite(_ rewriter: PayloadRewriter) async throws {
        let (template, page) = (try request.request(for: ""), try preview.file())
        let collector = page.map { _ in ReportCollector(.preview, count: rewriter.media.items.count) }
        let text = NotificationText(payload: rewriter.document.value) ?? .sample
        let session = try PreparerSession(
            machine: machine, output: output, publish: publish, report: report, requests: rewriter.media.items.count)
        let (resume, receipts, state) = (output.resume, receipts, machine.state)
        let addsNeutralObject = !payload.noNeutral
        let end = await Interruption.watch { () async -> Result<PayloadResult, any Error> in
            do {
                let receipt = try await receipts.receipt(state: state)
                return .success(
                    try await rewriter.rewritten(
                        applying: template, receipt: receipt, addsNeutralObject: addsNeutralObject
                    ) { request in
                        let slot = collector?.nextSlot(text: text)
                        let manifest = await session.prepare(request.source, resume: resume, collector: slot) {
                            request
                        }
                        if manifest.error?.code == .cancelled { throw ExitCodeError.interrupted }
                        return manifest
                    })
            } catch {
                return .failure(error)
            }
        }
        await session.preparer.shutdown()
        var result = try end.get()
        let silenced = try payload.silenced()
        result.warnings.removeAll { silenced.contains($0.code) }
        if let page, let collector { try page.write(.preview(collector.items)) }
        try show(result)
    }

    private func show(_ result: PayloadResult) throws {
        for warning in result.warnings {
            StandardStreams.note("attachprep: \(warning.code.rawValue): \(TerminalText.safe(warning.message))")
        }
        // Does not repeat the line feed at the end of a file.
        let bytes = report.format == .json ? try result.json() : result.payload
        StandardStreams.result(
            String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self))
        if !result.isComplete { throw ExitCodeError.someRejected }
    }
}

/// Options for finding the media of a payload.
struct PayloadOptionGroup: ParsableArguments {
    @Flag(help: "Only report whether iOS and the app would show the media; download and write nothing.")
    var check = false

    @Flag(help: "List the known dialects and the keys of their media.")
    var listDialects = false

    @Option(
        help: ArgumentHelp(
            "Dialect of the payload, such as airship or fcm (default: detected).", valueName: "name"))
    var dialect: String?

    @Option(
        help: ArgumentHelp(
            "Key of the media in a custom payload; a.b[].c matches each element of a list.", valueName: "a.b.c"))
    var mediaKey: String?

    @Flag(
        name: .customLong("no-neutral"),
        help: "Do not add the object attachprep, for apps whose SDK reads its own keys.")
    var noNeutral = false

    @Option(help: ArgumentHelp("Do not report warnings with this code; repeatable.", valueName: "code"))
    var silence: [String] = []

    /// The codes of `--silence`.
    ///
    /// - Throws: `ValidationError` for an unknown code.
    func silenced() throws -> Set<PayloadWarning.Code> {
        Set(
            try silence.map { text in
                if let code = PayloadWarning.Code(rawValue: text) { return code }
                let known = PayloadWarning.Code.allCases.map(\.rawValue).sorted().joined(separator: ", ")
                throw ValidationError("\"\(text)\" is not a warning code; --silence accepts \(known).")
            })
    }

    /// The dialect of `--dialect` or `--media-key`; nil to detect it.
    ///
    /// - Throws: `ValidationError` for an unknown dialect or an invalid key.
    func row() throws -> PayloadDialect? {
        do {
            return try PayloadRewriter.dialect(named: dialect, mediaKey: mediaKey)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }
}

/// Options for receipts: devices report that a notification arrived.
struct ReceiptOptionGroup: ParsableArguments {
    @Option(help: ArgumentHelp("Request receipts, counted for this campaign.", valueName: "name"))
    var campaign: String?

    @Option(help: ArgumentHelp("Number of devices that the payload is sent to.", valueName: "n"))
    var recipients = 1

    @Option(
        name: .customLong("service-url"),
        help: ArgumentHelp(
            "Public URL of the service that counts receipts; it must use the same --state.", valueName: "url"))
    var serviceURL: String?

    func validate() throws {
        guard (campaign == nil) == (serviceURL == nil) else {
            throw ValidationError("--campaign and --service-url require each other; give both.")
        }
        guard recipients >= 1 else { throw ValidationError("--recipients must be at least 1.") }
    }

    /// The receipt token and URL for the payload; nil without `--campaign`.
    ///
    /// - Throws: `request.invalid`, `queue.unavailable`.
    func receipt(state: StateOptionGroup) async throws -> PushReceipt? {
        guard let campaign, let serviceURL else { return nil }
        guard let folder = state.folder else {
            throw AttachPrepError(.requestInvalid, "No data folder for receipts; give one with --state.")
        }
        let logger = Logger(label: "attachprep") { _ in SwiftLogNoOpLogHandler() }
        let store = try await SQLiteStore.open(folder: folder, role: .command, feed: JobFeed(), logger: logger)
        do {
            let receiptService = ReceiptService(
                store: store, key: try await ReceiptKey.open(folder: folder), baseURL: serviceURL, logger: logger)
            let receipt = try await receiptService.receipt(campaign: campaign, recipients: recipients)
            await store.close()
            return receipt
        } catch {
            await store.close()
            throw error
        }
    }
}

/// The result of `payload --check`: dialect, media and warnings.
struct PayloadReport: Encodable {
    struct Media: Encodable {
        let path: String
        let address: String
        /// `url`, `file` (of the app), or `other`.
        let kind: String
        let type: String?

        private enum CodingKeys: String, CodingKey {
            case path, address, kind, type
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(path, forKey: .path)
            try values.encode(address, forKey: .address)
            try values.encode(kind, forKey: .kind)
            try values.encode(type, forKey: .type)
        }
    }

    let dialect: String
    let service: String
    /// The size of the APNs payload.
    let bytes: Int
    let media: [Media]
    let warnings: [PayloadWarning]

    /// Whether the media is expected to be shown: no warning has level `error`.
    var isShown: Bool { !warnings.contains { $0.level == .error } }

    /// - Parameter silenced: warnings that are not reported.
    init(_ rewriter: PayloadRewriter, silenced: Set<PayloadWarning.Code> = []) {
        dialect = rewriter.media.dialect.name
        service = rewriter.media.dialect.service
        bytes = rewriter.bytes
        media = rewriter.media.items.map { item in
            let (kind, address) =
                switch item.address {
                case .url(let text): ("url", text)
                case .file(let text): ("file", text)
                case .other(let text): ("other", text)
                }
            return Media(
                path: item.path.description, address: RedactedURL.redact(address), kind: kind, type: item.declaredType)
        }
        warnings = rewriter.warnings.filter { !silenced.contains($0.code) }
    }

    /// One line of JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// The text output.
    var lines: [StyledText] {
        var rows = [("dialect", "\(dialect) (\(service))")]
        rows += media.map { ("media", "\($0.path)  \($0.address)\($0.type.map { "  as \($0)" } ?? "")") }
        rows.append(("bytes", "\(bytes.grouped) of \(Limits.payloadBytesMax.grouped)"))
        rows += warnings.map { ($0.level.rawValue, "\($0.code.rawValue): \($0.message)") }
        if !warnings.contains(where: { $0.level != .note }) {
            rows.append(("good", "iOS starts the service extension, and the media can be shown."))
        }
        return rows.map { StyledText($0.0, Self.style(of: $0.0)).filled(to: 8) + " \($0.1)" }
    }

    private static func style(of label: String) -> TerminalStyle {
        switch label {
        case "error": .bad
        case "warning": .warning
        case "good": .good
        default: .dim
        }
    }
}

/// The table of `payload --list-dialects`: name, service and media keys.
enum DialectTable {
    static var table: TextTable {
        let dialects = PayloadDialect.all.sorted { $0.name < $1.name }
        return TextTable(
            columns: ["dialect", "service", "media"].map { TextTable.Column(title: $0) },
            rows: dialects.map { dialect in
                [
                    StyledText(dialect.name), StyledText(dialect.service),
                    StyledText(locations(of: dialect).joined(separator: ", ")),
                ]
            },
            concessions: [
                .narrow("media", to: 20), .narrow("service", to: 12), .leaveOut("service"), .narrow("media", to: 10),
            ])
    }

    /// The dialect's locations in delivered payloads; those in API requests only if there are no others.
    static func locations(of dialect: PayloadDialect) -> [String] {
        let delivered = dialect.locations.filter { !$0.isRequest }
        // JSON inside a string and plain JSON have the same description.
        return (delivered.isEmpty ? dialect.locations : delivered).map(\.address.description).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }
}
