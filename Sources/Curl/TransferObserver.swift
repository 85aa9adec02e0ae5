/// Sees one transfer as it happens, on the loop's thread: it must not block for long, and never calls back into curl.
package protocol TransferObserver: AnyObject, Sendable {
    /// Whether a connection to this address (numeric, without brackets) may be opened.
    ///
    /// Asked before the first packet of each new connection.
    func mayConnect(to address: String) -> Bool

    /// Whether the request may be sent over a connection to this address; asked for reused connections too.
    func maySendRequest(to address: String) -> Bool

    /// One header line as it came, status lines and the empty last line included; false aborts the transfer.
    func received(headerLine: UnsafeRawBufferPointer) -> Bool

    /// Whether the head of the final answer is whole: what comes after it is body and trailers.
    var hasHead: Bool { get }

    /// A piece of the body, decoded; false aborts the transfer.
    ///
    /// - Parameter bytesSent: bytes of the body so far as the server sent them, this piece's included.
    func received(body: UnsafeRawBufferPointer, bytesSent: Int) -> Bool

    /// Whether nothing more is wanted until something is decided; `TransferLoop.wakeUp` says when it may be.
    var isHeld: Bool { get }
}

extension TransferObserver {
    package var isHeld: Bool { false }
}
