import NIOCore

/// Who wants to know when what he wrote is on the link.
struct WritesOnTheirWay {
    private struct Write {
        let endsAt: Int
        let promise: EventLoopPromise<Void>
    }

    private var writes: [Write] = []
    private var offeredBytes = 0

    mutating func begin(_ bytes: Int, _ promise: EventLoopPromise<Void>?) {
        offeredBytes += bytes
        if let promise { writes.append(Write(endsAt: offeredBytes, promise: promise)) }
    }

    /// So many bytes of all were taken.
    mutating func end(at loadedBytes: Int) {
        let done = writes.prefix { $0.endsAt <= loadedBytes }
        writes.removeFirst(done.count)
        done.forEach { $0.promise.succeed() }
    }

    mutating func fail(_ error: any Error) {
        let open = writes
        writes = []
        open.forEach { $0.promise.fail(error) }
    }
}
