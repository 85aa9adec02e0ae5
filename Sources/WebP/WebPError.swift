import CWebP

/// A libwebp call that gave up, and its number for why: for the log only.
package struct WebPError: Error, Sendable, Hashable {
    package let operation: String
    /// `VP8StatusCode`; 0 where a call has none.
    package let status: UInt32

    init(_ status: VP8StatusCode, _ operation: StaticString) {
        self.operation = "\(operation)"
        self.status = status.rawValue
    }

    init(_ operation: StaticString) { self.init(VP8_STATUS_OK, operation) }
}
