/// What a bucket has under a key.
package struct KeyValueEntry: Sendable, Hashable {
    package var key: String
    /// Nil for one that was removed.
    package var value: [UInt8]?
    /// Its number in the bucket: a later change of any key has a higher one.
    package var revision: UInt64

    package init(key: String, value: [UInt8]?, revision: UInt64) {
        self.key = key
        self.value = value
        self.revision = revision
    }
}
