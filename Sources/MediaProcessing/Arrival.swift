import Glibc
import MediaEngine

/// A source that is still written to: its reader waits at its end until there is more, or it was all.
final class Arrival {
    /// Where words come from; borrowed.
    private let words: CInt
    /// Bytes of the whole; nil where nobody asks for them.
    let total: Int?
    private var isComplete = false

    init(words: CInt, total: Int? = nil) {
        self.words = words
        self.total = total
    }

    /// Waits, with nothing left to read; false when there will be no more.
    func waitForMore() -> Bool {
        if isComplete { return false }
        var bytes = [UInt8](repeating: 0, count: 512)
        var count = -1
        repeat { count = unsafe read(words, &bytes, bytes.count) } while count < 0 && errno == EINTR
        // Nobody will tell any more: what is there has to do, and is found out to be too little.
        guard count > 0 else {
            isComplete = true
            return false
        }
        isComplete = bytes[..<count].contains(ArrivalWord.all.rawValue)
        return true
    }
}
