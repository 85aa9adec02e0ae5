internal import Synchronization

/// Many transfers on one thread of their own, with connections kept for the next one.
///
/// ```swift
/// let loop = try TransferLoop(idleConnectionsMax: 32)
/// let report = await loop.perform(settings, observer: observer)
/// await loop.shutdown()
/// ```
///
/// A transfer ends at its deadline whatever libcurl is doing: when a call into it does not come back, its thread is
/// abandoned with all transfers on it, and another one goes on (see `LoopWatch`). It calls no observer from then on.
///
/// The thread never resolves names (callers pin them), and does not keep the process from exiting.
package final class TransferLoop: Sendable {
    private let mailbox: LoopMailbox

    /// - Parameters:
    ///   - idleConnectionsMax: connections kept open for the next transfer.
    ///   - onAbandoned: told how many loops were given up so far, whenever one more is; must return at once.
    /// - Throws: when libcurl or the thread cannot be started.
    package init(
        idleConnectionsMax: Int, onAbandoned: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(CurlError) {
        mailbox = LoopMailbox(idleConnectionsMax: idleConnectionsMax, onAbandoned: onAbandoned)
        try mailbox.launch()
    }

    /// Threads that were given up because libcurl did not come back from a call.
    package var abandonedCount: Int { mailbox.abandonedCount }
    /// Those of them that have not come back since.
    package var stuckCount: Int { mailbox.stuckCount }

    deinit {
        mailbox.stop()
    }

    /// Runs one transfer to its end; a cancelled task ends it at once with `.cancelled`.
    ///
    /// Never throws: a report says how the transfer ended, whichever way that was.
    package func perform(_ settings: TransferSettings, observer: any TransferObserver) async -> TransferReport {
        let id = mailbox.nextID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                mailbox.start(
                    TransferOrder(id: id, settings: settings, observer: observer) { report in
                        continuation.resume(returning: report)
                    })
                // The handler may have run before the order was in.
                if Task.isCancelled { mailbox.cancel(id) }
            }
        } onCancel: {
            mailbox.cancel(id)
        }
    }

    /// Has it ask the observers of held transfers again.
    package func wakeUp() {
        mailbox.wakeUp()
    }

    /// Ends every transfer with `.cancelled`, closes every connection, and returns when the thread is done.
    package func shutdown() async {
        await withCheckedContinuation { continuation in
            mailbox.stop { continuation.resume() }
        }
    }
}
