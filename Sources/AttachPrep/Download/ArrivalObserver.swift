/// Told of a body while it arrives, on the curl thread: what it does must be quick.
package protocol ArrivalObserver: Sendable {
    /// The body begins, or begins anew: what had arrived is gone.
    func bodyBegan()

    /// So many bytes are in the file now.
    ///
    /// - Parameter total: What the server said the whole is; nil when it did not.
    func arrived(bytes: Int, of total: Int?)
}
