import CSPNG

/// A libspng call that gave up, and its word for why: for the log only.
package struct PNGError: Error, Sendable, Hashable {
    package let operation: String
    package let reason: String

    init(_ code: CInt, _ operation: StaticString) {
        self.operation = "\(operation)"
        reason = unsafe spng_strerror(code).map { unsafe String(cString: $0) } ?? "\(code)"
    }

    static func check(_ code: CInt, _ operation: StaticString) throws(PNGError) {
        if code != 0 { throw PNGError(code, operation) }
    }
}
