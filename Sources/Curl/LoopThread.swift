internal import CCurl

/// The loop itself: takes orders, lets libcurl work, ends what is over or overdue.
final class LoopThread {
    private struct Running {
        let order: TransferOrder
        let easy: EasyHandle
    }

    /// The longest sleep; nothing depends on it, every limit has its own instant.
    private static let waitMax = Duration.seconds(10)

    /// The longest sleep while somebody waits for a connection: libcurl 7.88 sets no timer of its own when the third of
    /// several addresses is to be tried (four that refuse took 5 s, and take 0.3 s so).
    private static let connectingWaitMax = Duration.milliseconds(50)

    private let mailbox: LoopMailbox
    private let multi: MultiHandle
    private var running: [UInt64: Running] = [:]

    init(_ mailbox: LoopMailbox, _ multi: MultiHandle) {
        self.mailbox = mailbox
        self.multi = multi
    }

    /// Returns when the mailbox says so, with every transfer ended and every connection closed.
    ///
    /// Also when a call into libcurl came back after all, and the loop was abandoned meanwhile: then every transfer has
    /// been reported, and only what is held here is put away.
    func run() {
        while turn(multi) {}
        end(Array(running.values), .cancelled, multi)
        mailbox.beginClosing(multi)
        multi.close()
        mailbox.close(multi)
    }

    /// One round; false when it was the last.
    private func turn(_ multi: MultiHandle) -> Bool {
        guard !multi.watch.isAbandoned, let mail = mailbox.collect(for: multi) else { return false }
        for order in mail.orders { begin(order, multi) }
        end(mail.cancelled.compactMap { running[$0] }, .cancelled, multi)
        guard !mail.isStopping else { return false }
        multi.watch.watch(!running.isEmpty)
        do {
            resume(multi)
            try multi.perform()
            guard !multi.watch.isAbandoned else { return false }
            reap(multi)
            endOverdue(multi)
            try multi.wait(atMost: timeLeft)
        } catch {
            end(Array(running.values), .failed(error), multi)
        }
        return true
    }

    /// Goes on with transfers whose observers have decided. It may call them back, as `perform` does.
    private func resume(_ multi: MultiHandle) {
        for transfer in Array(running.values) where transfer.easy.events.isHeld {
            let code = transfer.easy.events.resume()
            if code != CURLE_OK { end([transfer], .failed(transfer.easy.error(code)), multi) }
        }
    }

    private func begin(_ order: TransferOrder, _ multi: MultiHandle) {
        do {
            let easy = try EasyHandle(order.settings, observer: order.observer, watch: multi.watch)
            try multi.add(easy)
            running[order.id] = Running(order: order, easy: easy)
        } catch {
            mailbox.finish(order.id, TransferReport(.failed(error)))
        }
    }

    /// The connection was spoiled before the request was sent, so nothing was asked yet: another one is opened.
    private func beginAnew(_ spoiled: Running, _ multi: MultiHandle) {
        running.removeValue(forKey: spoiled.order.id)
        do {
            try multi.remove(spoiled.easy)
            var order = spoiled.order
            order.settings.opensConnection = true
            begin(order, multi)
        } catch {
            mailbox.finish(spoiled.order.id, TransferReport(.failed(error)))
        }
    }

    private func reap(_ multi: MultiHandle) {
        while let (raw, code) = unsafe multi.nextFinished() {
            guard let finished = running.values.first(where: { unsafe $0.easy.raw == raw }) else { continue }
            if finished.easy.events.isConnectionSpoiled {
                beginAnew(finished, multi)
            } else if finished.easy.events.isTransferCodingRefused {
                end([finished], .transferCodingRefused, multi)
            } else {
                end([finished], code == CURLE_OK ? .completed : .failed(finished.easy.error(code)), multi)
            }
        }
    }

    private func endOverdue(_ multi: MultiHandle) {
        let now = ContinuousClock.now
        for transfer in Array(running.values) {
            let end = transfer.easy.events.end
            if end.instant <= now { self.end([transfer], end.ending, multi) }
        }
    }

    private var timeLeft: Duration {
        let events = running.values.map(\.easy.events)
        guard let next = events.map(\.end.instant).min() else { return Self.waitMax }
        let waitMax = events.contains(where: \.clock.isConnecting) ? Self.connectingWaitMax : Self.waitMax
        return min(waitMax, max(.zero, ContinuousClock.now.duration(to: next)))
    }

    private func end(_ transfers: [Running], _ ending: TransferEnding, _ multi: MultiHandle) {
        // A transfer may have been cancelled twice in one round of mail; it ends once.
        for transfer in transfers where running.removeValue(forKey: transfer.order.id) != nil {
            let report = transfer.easy.report(ending)
            do {
                try multi.remove(transfer.easy)
                mailbox.finish(transfer.order.id, report)
            } catch {
                mailbox.finish(transfer.order.id, TransferReport(.failed(error)))
            }
        }
    }
}
