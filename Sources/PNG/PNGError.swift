import CSPNG

/// A libspng call that gave up, and its word for why: for the log only.
package struct PNGError: Error, Sendable, Hashable {
    package let operation: String
    package let reason: String
    /// Whether it is a limit of ours that was met.
    let isLimit: Bool

    init(_ code: CInt, _ operation: StaticString) {
        self.operation = "\(operation)"
        let limits = [SPNG_ECHUNK_LIMITS, SPNG_EMEM, SPNG_EOVERFLOW, SPNG_EUSER_WIDTH, SPNG_EUSER_HEIGHT]
        isLimit = limits.contains { CInt(truncatingIfNeeded: $0.rawValue) == code }
        reason = unsafe spng_strerror(code).map { unsafe String(cString: $0) } ?? "\(code)"
    }

    static func check(_ code: CInt, _ operation: StaticString) throws(PNGError) {
        if code != 0 { throw PNGError(code, operation) }
    }
}
