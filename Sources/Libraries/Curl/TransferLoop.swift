internal import CCurl
internal import Synchronization

/// Runs many transfers on one thread, and reuses connections.
///
/// ```swift
/// let loop = try TransferLoop(idleConnectionsMax: 32)
/// let report = await loop.perform(settings, observer: observer)
/// await loop.shutdown()
/// ```
///
/// A transfer ends at its deadline even if a libcurl call does not return: its thread is then abandoned with all its
/// transfers and replaced by another (see `LoopWatchdog`). An abandoned thread calls no observer.
///
/// The thread never resolves names (callers pin their addresses), and does not keep the process from exiting.
package final class TransferLoop: Sendable {
    private let mailbox: LoopMailbox

    /// - Parameters:
    ///   - idleConnectionsMax: The most idle connections that are kept for reuse.
    ///   - onAbandoned: Called with the number of abandoned loops whenever another one is; must return quickly.
    /// - Throws: When libcurl or the thread cannot be started.
    package init(
        idleConnectionsMax: Int, onAbandoned: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(CurlError) {
        mailbox = LoopMailbox(idleConnectionsMax: idleConnectionsMax, onAbandoned: onAbandoned)
        try mailbox.launch()
    }

    /// Threads abandoned because a libcurl call did not return.
    package var abandonedCount: Int { mailbox.abandonedCount }
    /// Abandoned threads whose call has still not returned.
    package var stuckCount: Int { mailbox.stuckCount }

    deinit {
        mailbox.stop()
    }

    /// Runs one transfer; cancelling the task ends it at once with `.cancelled`.
    ///
    /// - Returns: A report, also for a failed transfer.
    package func perform(_ settings: TransferSettings, observer: any TransferObserver) async -> TransferReport {
        let id = mailbox.nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                mailbox.start(
                    TransferTask(id: id, settings: settings, observer: observer) { report in
                        continuation.resume(returning: report)
                    })
                // The cancellation handler may have run before the task was submitted.
                if Task.isCancelled { mailbox.cancel(id) }
            }
        } onCancel: {
            mailbox.cancel(id)
        }
    }

    /// Makes the loop check again whether paused observers can resume.
    package func wakeUp() {
        mailbox.wakeUp()
    }

    /// Ends every transfer with `.cancelled`, closes all connections, and returns when the thread has ended.
    package func shutdown() async {
        await withCheckedContinuation { continuation in
            mailbox.stop { continuation.resume() }
        }
    }
}

/// The loop thread: starts submitted transfers, runs libcurl, and reports transfers that ended or are overdue.
final class LoopThread {
    private struct Running {
        let task: TransferTask
        let easy: EasyHandle
    }

    /// The longest wait. No time limit depends on it.
    private static let waitMax = Duration.seconds(10)

    /// The longest wait while a transfer connects: libcurl 7.88 sets no timer before it tries the third of several
    /// addresses (four that refuse connections take 0.3 s instead of 5 s).
    private static let connectingWaitMax = Duration.milliseconds(50)

    private let mailbox: LoopMailbox
    private let multi: MultiHandle
    private var running: [UInt64: Running] = [:]

    init(_ mailbox: LoopMailbox, _ multi: MultiHandle) {
        self.mailbox = mailbox
        self.multi = multi
    }

    /// Runs until the mailbox stops the loop, then ends all transfers and closes all connections.
    ///
    /// An abandoned loop whose libcurl call returns late only releases its resources here; its transfers have been
    /// reported.
    func run() {
        while runOnce(multi) {}
        end(Array(running.values), ending: .cancelled, multi: multi)
        mailbox.beginClosing(multi)
        multi.close()
        mailbox.close(multi)
    }

    /// Runs one iteration; false after the last.
    private func runOnce(_ multi: MultiHandle) -> Bool {
        guard !multi.watch.isAbandoned, let mail = mailbox.collect(for: multi) else { return false }
        for task in mail.tasks { begin(task, multi: multi) }
        end(mail.cancelled.compactMap { running[$0] }, ending: .cancelled, multi: multi)
        guard !mail.isStopping else { return false }
        multi.watch.setActive(!running.isEmpty)
        do {
            resume(multi)
            try multi.perform()
            guard !multi.watch.isAbandoned else { return false }
            reportFinished(multi)
            endOverdue(multi)
            try multi.wait(atMost: timeLeft)
        } catch {
            end(Array(running.values), ending: .failed(error), multi: multi)
        }
        return true
    }

    /// Resumes paused transfers whose observers allow it; may call observers, as `perform` does.
    private func resume(_ multi: MultiHandle) {
        for transfer in Array(running.values) where transfer.easy.events.isPaused {
            let code = transfer.easy.events.resume()
            if code != CURLE_OK { end([transfer], ending: .failed(transfer.easy.error(code)), multi: multi) }
        }
    }

    private func begin(_ task: TransferTask, multi: MultiHandle) {
        do {
            let easy = try EasyHandle(task.settings, observer: task.observer, watch: multi.watch)
            try multi.add(easy)
            running[task.id] = Running(task: task, easy: easy)
        } catch {
            mailbox.finish(task.id, report: TransferReport(.failed(error)))
        }
    }

    /// Restarts a transfer on a new connection. Its request was not sent, because the reused connection was unusable.
    private func restart(_ spoiled: Running, multi: MultiHandle) {
        running.removeValue(forKey: spoiled.task.id)
        do {
            try multi.remove(spoiled.easy)
            var task = spoiled.task
            task.settings.opensConnection = true
            begin(task, multi: multi)
        } catch {
            mailbox.finish(spoiled.task.id, report: TransferReport(.failed(error)))
        }
    }

    private func reportFinished(_ multi: MultiHandle) {
        while let (raw, code) = unsafe multi.nextFinished() {
            guard let finished = running.values.first(where: { unsafe $0.easy.raw == raw }) else { continue }
            if finished.easy.events.isConnectionSpoiled {
                restart(finished, multi: multi)
            } else if finished.easy.events.isTransferCodingRefused {
                end([finished], ending: .transferCodingRefused, multi: multi)
            } else {
                end(
                    [finished], ending: code == CURLE_OK ? .completed : .failed(finished.easy.error(code)), multi: multi
                )
            }
        }
    }

    private func endOverdue(_ multi: MultiHandle) {
        let now = ContinuousClock.now
        for transfer in Array(running.values) {
            let end = transfer.easy.events.end
            if end.instant <= now { self.end([transfer], ending: end.ending, multi: multi) }
        }
    }

    private var timeLeft: Duration {
        let events = running.values.map(\.easy.events)
        guard let next = events.map(\.end.instant).min() else { return Self.waitMax }
        let waitMax = events.contains(where: \.clock.isConnecting) ? Self.connectingWaitMax : Self.waitMax
        return min(waitMax, max(.zero, ContinuousClock.now.duration(to: next)))
    }

    private func end(_ transfers: [Running], ending: TransferEnding, multi: MultiHandle) {
        // A transfer may have been cancelled twice in one iteration; it is reported once.
        for transfer in transfers where running.removeValue(forKey: transfer.task.id) != nil {
            let report = transfer.easy.report(ending)
            do {
                try multi.remove(transfer.easy)
                mailbox.finish(transfer.task.id, report: report)
            } catch {
                mailbox.finish(transfer.task.id, report: TransferReport(.failed(error)))
            }
        }
    }
}
