/// Numbers in a row for inner loops: a place is looked at in debug builds alone, and writing copies nothing.
@safe final class NumberRow<Number: BitwiseCopyable> {
    let count: Int
    private let start: UnsafeMutablePointer<Number>

    init(repeating number: Number, count: Int) {
        self.count = count
        unsafe start = .allocate(capacity: count)
        unsafe start.initialize(repeating: number, count: count)
    }

    deinit { unsafe start.deallocate() }

    subscript(place: Int) -> Number {
        @inline(__always) get {
            assert(place >= 0 && place < count, "a place of the row")
            return unsafe start[place]
        }
        @inline(__always) set {
            assert(place >= 0 && place < count, "a place of the row")
            unsafe start[place] = newValue
        }
    }

    /// All places as they were at first.
    func fill(with number: Number) { unsafe start.update(repeating: number, count: count) }

    /// The first numbers.
    func prefix(_ count: Int) -> [Number] {
        precondition(count >= 0 && count <= self.count, "a part of the row")
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }
}
