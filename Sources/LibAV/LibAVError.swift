import CLibAV

/// A libav call that failed: its raw code and what was being attempted. For the log only; callers decide the meaning
/// by which call failed.
package struct LibAVError: Error, Hashable, CustomStringConvertible {
    /// libav's negative code.
    package let code: CInt
    /// The C function that returned it.
    package let operation: String

    package init(code: CInt, operation: String) {
        self.code = code
        self.operation = operation
    }

    /// The deadline passed inside a read or an interrupt callback.
    package var isDeadline: Bool { code == CLibAV_errorExit }
    /// What we limit ourselves, or what the machine has, is used up.
    package var isOutOfMemory: Bool { code == CLibAV_errorNoMemory }

    /// libav's own text for the code.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(AV_ERROR_MAX_STRING_SIZE))
        let known = unsafe av_strerror(code, &text, text.count) == 0
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "\(operation): \(known ? String(decoding: bytes, as: UTF8.self) : "unknown") (\(code))"
    }

    /// Passes a libav result through when it is not negative.
    @discardableResult
    static func check(_ code: CInt, _ operation: StaticString) throws(LibAVError) -> CInt {
        if code < 0 { throw LibAVError(code: code, operation: "\(operation)") }
        return code
    }

    /// Unwraps what libav allocated.
    static func allocated<Pointer>(_ pointer: Pointer?, _ operation: StaticString) throws(LibAVError) -> Pointer {
        guard let pointer else { throw LibAVError(code: CLibAV_errorNoMemory, operation: "\(operation)") }
        return pointer
    }
}
