/// A libjpeg call that gave up, by the name of what was being done: for the log only.
package struct JPEGError: Error, Sendable, Hashable {
    package let operation: String

    init(_ operation: StaticString) { self.operation = "\(operation)" }

    static func check(_ code: CInt, _ operation: StaticString) throws(JPEGError) {
        if code != 0 { throw JPEGError(operation) }
    }
}
