internal import Curl
internal import RichPush

extension DownloadRun {
    /// One request and its answer, while the caller is asked about the first bytes.
    ///
    /// - Throws: what the caller's answer throws, which ends the transfer; a broken transfer is no error here.
    func exchange(with hosts: [PinnedHost]) async throws -> (Exchange.Outcome, TransferReport) {
        let (looks, look) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let exchange = Exchange(
            host: hop.host, body: body, wall: downloader.wall, traffic: downloader.traffic, resumePoint: resumePoint,
            condition: condition, decodesContent: decodesContent, deadline: deadline, look: look)
        let settings = settings(for: hosts)
        let loop = downloader.loop
        let report = try await downloader.slots.run(until: deadline) {
            try await withThrowingTaskGroup(of: TransferReport?.self) { group in
                group.addTask {
                    defer { look.finish() }
                    return await loop.perform(settings, observer: exchange)
                }
                group.addTask { [body, onPrefix] in
                    try await Self.answer(looks, about: body, onPrefix) { loop.wakeUp() }
                    return nil
                }
                // A question in flight is waited for, so that no try begins while the caller still reads the last one.
                // Its error ends the transfer, and wins over the transfer's own.
                var report = TransferReport(.cancelled)
                while let result = try await group.next() { report = result ?? report }
                return report
            }
        }
        return (exchange.outcome, report)
    }

    private static func answer(
        _ looks: AsyncStream<Void>, about body: BodyFile, _ onPrefix: PrefixQuestion, answered: () -> Void
    ) async throws {
        for await _ in looks {
            while let bytes = body.takeQuestion() {
                try body.accept(await onPrefix(bytes, false))
                answered()
            }
        }
    }

    private func settings(for hosts: [PinnedHost]) -> TransferSettings {
        let timeouts = downloader.timeouts
        let limits = TransferLimits(
            connect: timeouts.connect, firstByte: timeouts.firstByte, stall: timeouts.stall,
            stallBytesMin: timeouts.stallBytesMin, deadline: deadline)
        let lines = headers.lines(
            isFirstOrigin: hop.origin == first.origin, authorization: first.basicAuthorization, resuming: resumePoint,
            condition: condition)
        var settings = TransferSettings(url: hop.text, headers: lines, limits: limits)
        settings.pins = hosts.filter { IPAddress($0.host) == nil }.map(\.pin)
        settings.proxy = downloader.proxy?.text
        settings.certificateAuthorityFile = downloader.policy.certificateAuthorityFile
        settings.opensConnection = opensConnection
        settings.assumesHTTP2 = downloader.policy.assumesHTTP2
        return settings
    }
}

extension DownloadTimings {
    mutating func add(_ timings: TransferTimings) {
        // Bounded: floating-point numbers.
        connect += timings.connect
        // Bounded: likewise.
        tls += timings.tls
        // Bounded: likewise.
        firstByte += timings.firstByte
        // Bounded: likewise.
        transfer += timings.transfer
    }
}
