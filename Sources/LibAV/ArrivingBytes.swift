/// A file that is still written to, read as if it were whole.
package struct ArrivingBytes {
    /// Bytes it will have.
    package let total: Int
    /// Waits at its end; false when there will be no more.
    package let waitForMore: () -> Bool

    package init(total: Int, waitForMore: @escaping () -> Bool) {
        self.total = total
        self.waitForMore = waitForMore
    }
}
