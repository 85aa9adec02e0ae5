internal import Synchronization

/// Many transfers on one thread of their own, with connections kept for the next one.
///
/// ```swift
/// let loop = try TransferLoop(idleConnectionsMax: 32)
/// let report = await loop.perform(settings, observer: observer)
/// await loop.shutdown()
/// ```
///
/// The thread never resolves names (callers pin them), and does not keep the process from exiting.
package final class TransferLoop: Sendable {
    private let mailbox: LoopMailbox

    /// - Parameter idleConnectionsMax: connections kept open for the next transfer.
    /// - Throws: when libcurl or the thread cannot be started.
    package init(idleConnectionsMax: Int) throws(CurlError) {
        let mailbox = LoopMailbox(try MultiHandle(idleConnectionsMax: idleConnectionsMax))
        self.mailbox = mailbox
        guard DetachedThread.start({ LoopThread(mailbox).run() }) else {
            throw CurlError(
                interface: .multi, rawCode: 0, operation: "start the download thread", text: "no thread left")
        }
    }

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
