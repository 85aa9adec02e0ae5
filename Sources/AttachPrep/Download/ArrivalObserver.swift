/// Told of a body while it arrives, on the curl thread: what it does must be quick.
package protocol ArrivalObserver: Sendable {
    /// The body begins, or begins anew: what had arrived is gone.
    ///
    /// - Parameter generation: Counts the beginnings, from 1. Within one, bytes are only added.
    func bodyBegan(generation: Int)

    /// So many bytes are in the file now.
    ///
    /// - Parameter total: What the server said the whole is; nil when it did not.
    func arrived(bytes: Int, of total: Int?)
}
