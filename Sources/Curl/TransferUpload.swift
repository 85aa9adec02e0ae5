/// A piece of a file as the body of a request: read as it is sent, never as a whole.
package struct TransferUpload: Sendable, Hashable {
    /// Open for reading until the transfer has ended; its position is neither used nor changed.
    package var descriptor: CInt
    /// Where the piece begins, in bytes.
    package var offset: Int
    package var bytes: Int

    package init(descriptor: CInt, offset: Int = 0, bytes: Int) {
        self.descriptor = descriptor
        self.offset = offset
        self.bytes = bytes
    }
}
