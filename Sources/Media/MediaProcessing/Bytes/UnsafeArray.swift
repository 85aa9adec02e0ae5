/// A fixed-size array for inner loops: indexes are checked in debug builds only, and writing never copies.
@safe final class UnsafeArray<Number: BitwiseCopyable> {
    let count: Int
    private let start: UnsafeMutablePointer<Number>

    init(repeating number: Number, count: Int) {
        self.count = count
        unsafe start = .allocate(capacity: count)
        unsafe start.initialize(repeating: number, count: count)
    }

    deinit { unsafe start.deallocate() }

    subscript(index: Int) -> Number {
        @inline(__always) get {
            assert(index >= 0 && index < count, "index out of range")
            return unsafe start[index]
        }
        @inline(__always) set {
            assert(index >= 0 && index < count, "index out of range")
            unsafe start[index] = newValue
        }
    }

    /// Sets all elements.
    func fill(with number: Number) { unsafe start.update(repeating: number, count: count) }
}
