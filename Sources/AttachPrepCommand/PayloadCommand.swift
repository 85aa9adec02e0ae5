import ArgumentParser
import AttachPrep
import AttachPrepPages
import RichPush

/// `attachprep payload FILE`
struct PayloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "payload",
        abstract: "Rewrite an APNs payload with media that will arrive.",
        discussion: """
            Finds the media in a payload, prepares it into the output folder, and prints the payload with its public \
            addresses below --base-url, or in the bucket of --publish. Everything else stays as it was. Warnings go to \
            standard error.

              attachprep payload push.json --output public --base-url https://media.example/push
              attachprep payload push.json --check
              attachprep payload --list-dialects
            """)

    @Argument(help: ArgumentHelp("The payload as JSON; - reads standard input.", valueName: "file"))
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
            throw ValidationError("--check fetches nothing that --preview could show; leave one of them out.")
        }
        guard !payload.noNeutral || receipts.campaign == nil else {
            throw ValidationError("--campaign writes into the member that --no-neutral leaves out; give one of them.")
        }
        guard try payload.check || output.baseURL != nil || publish.place().isRemote else {
            throw ValidationError(
                "--base-url is missing: the payload needs the public address of the output folder, or --publish. "
                    + "--check looks at the payload alone.")
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
            let order = try PayloadOrder(PayloadDocument(bytes), dialect: dialect)
            if payload.check { try check(order, bytes.count) } else { try await rewrite(order) }
        } catch let error as AttachPrepError {
            StandardStreams.note("attachprep: \(error.code.rawValue): \(TerminalText.safe(error.message))")
            throw CommandEnd.someRejected
        }
    }

    private func check(_ order: PayloadOrder, _ bytes: Int) throws {
        let found = PayloadReport(order, silenced: try payload.silenced())
        switch report.format {
        case .json: StandardStreams.result(try found.json())
        case .text: StandardStreams.result(found.lines)
        }
        if !found.isShown { throw CommandEnd.someRejected }
    }

    private func rewrite(_ order: PayloadOrder) async throws {
        let (template, page) = (try request.request(for: ""), try preview.file())
        let shelf = page.map { _ in ReportShelf(.preview, count: order.media.items.count) }
        let text = NotificationText(payload: order.document.value) ?? .sample
        let session = try PreparerSession(
            machine: machine, output: output, publish: publish, report: report, requests: order.media.items.count)
        let (resume, receipts, state) = (output.resume, receipts, machine.state)
        let addsNeutralObject = !payload.noNeutral
        let end = await Interruption.watch { () async -> Result<PayloadResult, any Error> in
            do {
                let receipt = try await receipts.receipt(state: state)
                return .success(
                    try await order.rewritten(
                        asking: template, receipt: receipt, addsNeutralObject: addsNeutralObject
                    ) { request in
                        let place = shelf?.nextPlace(text: text)
                        let manifest = await session.prepare(request.source, resume: resume, shelf: place) { request }
                        if manifest.error?.code == .cancelled { throw CommandEnd.interrupted }
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
        if let page, let shelf { try page.write(.preview(shelf.items)) }
        try show(result)
    }

    private func show(_ result: PayloadResult) throws {
        for warning in result.warnings {
            StandardStreams.note("attachprep: \(warning.code.rawValue): \(TerminalText.safe(warning.message))")
        }
        // A file's own last line end is the line end of the result.
        let bytes = report.format == .json ? try result.json() : result.payload
        StandardStreams.result(
            String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self))
        if !result.isComplete { throw CommandEnd.someRejected }
    }
}
