import NIOCore

/// That a connection is to be closed when everything before has arrived.
struct CloseOrder {
    private(set) var isGiven = false
    private(set) var mode = CloseMode.output
    var promise: EventLoopPromise<Void>?
    /// It was carried out; later orders go through at once.
    var isDone = false

    mutating func give(_ mode: CloseMode, _ promise: EventLoopPromise<Void>?) {
        if mode == .all { self.mode = .all }
        isGiven = true
        if let first = self.promise { first.futureResult.cascade(to: promise) } else { self.promise = promise }
    }

    mutating func takePromise() -> EventLoopPromise<Void>? {
        defer { promise = nil }
        return promise
    }
}
