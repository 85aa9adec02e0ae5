import ArgumentParser
import AttachPrep
import AttachPrepModel
import AttachPrepPages
import MediaTypes
import PushPayload

/// `attachprep payload FILE`
struct PayloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "payload",
        abstract: "Prepare the media of an APNs payload and rewrite its URLs.",
        discussion: """
            Finds the media URLs in a payload, prepares the media into the output folder, and prints the payload with \
            the new URLs, below --base-url or in the bucket of --publish. The rest of the payload is unchanged. \
            Warnings go to standard error.

            The input is one payload, an array of payloads (such as Expo's messages), or JSON Lines: input whose first \
            line is a complete payload and has more lines after it. Each line gives one line of output, in order; for \
            a line that fails it is null, or {"error": …} with --format json, and the other lines are processed.

              attachprep payload push.json --output public --base-url https://media.example/push
              attachprep payload push.json --check
              attachprep payload campaign.jsonl --base-url https://media.example/push > ready.jsonl
              attachprep payload --list-dialects
            """)

    @Argument(
        help: ArgumentHelp(
            "File of a payload, an array of payloads or JSON Lines; - for standard input.", valueName: "file"))
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
        let bytes = try InputFile(path: file, name: "payload", remedy: "a JSON file").bytes()
        if payload.lines || PayloadLines.isDetected(in: bytes) {
            try await run(lines: PayloadLines.lines(of: bytes))
        } else {
            try await run(document: bytes)
        }
    }

    /// One document: a payload or an array of payloads.
    private func run(document bytes: [UInt8]) async throws {
        let search = try search
        do {
            let input = try PayloadInput(bytes, search: search)
            let output = try await payload.check ? formatter.checked(input) : rewritten(input)
            output.show()
            if output.isFailure { throw ExitCodeError.someRejected }
        } catch let error as AttachPrepError {
            try formatter.failed(error, line: nil).show()
            throw ExitCodeError.someRejected
        }
    }

    /// What is searched for in the payload.
    private var search: MediaSearch {
        get throws {
            MediaSearch(
                dialect: try payload.row(), targets: try request.request(for: "").targets.systems,
                acceptsText: receipts.campaign != nil)
        }
    }

    private var formatter: PayloadOutputFormatter {
        get throws { PayloadOutputFormatter(format: report.format, silenced: try payload.silenced()) }
    }

    private func rewritten(_ input: PayloadInput) async throws -> PayloadOutput {
        let page = try preview.file()
        let collector = page.map { _ in ReportCollector(.preview, count: input.mediaCount) }
        let work = try PayloadWork(self, session: await session(requests: input.mediaCount), collector: collector)
        let end = await Interruption.cancellingOnInterrupt { () async -> Result<PayloadResult, any Error> in
            do { return .success(try await work.rewritten(input)) } catch { return .failure(error) }
        }
        await work.session.shutdown()
        let result = try end.get()
        if let page, let collector { try page.write(.preview(collector.items)) }
        return try formatter.rewritten(result)
    }

    /// JSON Lines: the results are printed in the order of the lines.
    private func run(lines: [PayloadLines.Line]) async throws {
        guard preview.preview == nil else {
            throw ValidationError("--preview shows one payload, but the input is JSON Lines; omit it.")
        }
        if payload.check { return try check(lines) }
        let (search, formatter) = (try search, try self.formatter)
        let session = try await session(requests: lines.count)
        let work = try PayloadWork(self, session: session)
        let end = await Interruption.cancellingOnInterrupt {
            await session.each(lines, inOrder: true) { (line: PayloadLines.Line) -> PayloadOutput in
                do {
                    let result = try await work.rewritten(PayloadInput(line.bytes, search: search))
                    return try formatter.rewritten(result).ofLine(line.number)
                } catch let error as AttachPrepError {
                    return formatter.failed(error, line: line.number)
                } catch {
                    // Interrupted: nothing is printed.
                    return PayloadOutput(isFailure: true)
                }
            } show: {
                $0.show()
            }
        }
        await session.shutdown()
        if end.isCancelled { throw ExitCodeError.interrupted }
        if end.failures > 0 { throw ExitCodeError.someRejected }
    }

    private func check(_ lines: [PayloadLines.Line]) throws {
        let (search, formatter) = (try search, try self.formatter)
        var isFailure = false
        for line in lines {
            let output: PayloadOutput
            do {
                output = try formatter.checked(PayloadInput(line.bytes, search: search), line: line.number)
            } catch let error as AttachPrepError {
                output = formatter.unchecked(error, line: line.number)
            }
            output.show()
            isFailure = isFailure || output.isFailure
        }
        if isFailure { throw ExitCodeError.someRejected }
    }

    private func session(requests: Int) async throws -> PreparerSession {
        try await PreparerSession(
            machine: machine, output: output, publish: publish, report: report, requests: requests)
    }
}

/// Rewrites payloads with the options of the command; equal sources of all payloads are prepared once.
struct PayloadWork: Sendable {
    let session: PreparerSession
    private let template: AttachmentRequest
    private let receipts: ReceiptOptionGroup
    private let data: DataOptionGroup
    private let resume: Bool
    private let addsNeutralObject: Bool
    private let collector: ReportCollector?
    private let shared = SharedPreparations()

    init(_ command: PayloadCommand, session: PreparerSession, collector: ReportCollector? = nil) throws {
        self.session = session
        template = try command.request.request(for: "")
        receipts = command.receipts
        data = command.machine.data
        resume = command.output.resume
        addsNeutralObject = !command.payload.noNeutral
        self.collector = collector
    }

    func rewritten(_ input: PayloadInput) async throws -> PayloadResult {
        let receipt = try await receipts.receipt(data: data)
        return try await input.rewritten(
            applying: template, receipt: receipt, addsNeutralObject: addsNeutralObject
        ) { request, message in
            let manifest = try await shared.manifest(of: request) { request in
                let text = message.rewriter.flatMap { NotificationText(payload: $0.document.value) }
                let slot = collector?.nextSlot(text: text ?? .sample)
                return await session.prepare(request.source, resume: resume, collector: slot) { request }
            }
            if manifest.error?.code == .cancelled { throw ExitCodeError.interrupted }
            return manifest
        }
    }
}
