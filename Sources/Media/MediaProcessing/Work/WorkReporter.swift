package import MediaEngine
import MediaTypes
import SafeArithmetic
import Synchronization

/// Reports the work of the current call to the parent, which allows processor time for it.
///
/// It belongs to the process and not to a call: the processor time that is limited is the process's as well, and sizes
/// are known at many places (`ImageLimits`). Nothing is reported where calls run in the process of their caller.
package enum WorkReporter {
    private struct State {
        var send: @Sendable (WorkReport) -> Void
        var pixels = 0
        var reports = 0
    }

    private static let state = Mutex<State?>(nil)

    /// Begins a call, whose reports are sent by this function.
    package static func begin(_ send: @escaping @Sendable (WorkReport) -> Void) {
        state.withLock { $0 = State(send: send) }
    }

    /// Reports the size that a header declares, before anything of it is decoded.
    ///
    /// - Parameter frames: Nil where the header does not say how many there are.
    static func declare(pixels: Int, frames: Int? = 1) {
        state.withLock { state in
            let total = pixels.multiplied(clamping: frames ?? .max)
            guard var current = state, total >= Limits.reportedPixelsMin, total > current.pixels,
                current.reports < Limits.workReportsMax
            else { return }
            (current.pixels, current.reports) = (total, current.reports + 1)
            state = current
            current.send(.declared(pixels: Int(clamping: Int32(clamping: pixels)), frames: frames.map(bounded)))
        }
    }

    /// Reports that an attachment or a crop is encoded from now on.
    static func encode() {
        state.withLock { $0?.send(.encoding) }
    }

    private static func bounded(_ frames: Int) -> Int { max(0, min(frames, Int(Int32.max))) }
}

extension Limits {
    /// Pixels of all frames below which nothing is reported: the least processor time that is allowed covers them.
    static let reportedPixelsMin = 4_000_000
    /// Reports of sizes in one call: the few sizes of one file. An icon has one for each of its images.
    static let workReportsMax = 8
}
