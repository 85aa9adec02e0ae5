import CLibAV
import Glibc
import SafeArithmetic

/// An AVIOContext that writes a file through its descriptor, from the start and up to a limit.
///
/// Writes with `pwrite`. The MP4 muxer opens its output a second time, to move the index to the front; it is handed the
/// same descriptor (`openReading`).
@safe package final class DescriptorOutput {
    /// Why a write was refused.
    package enum Refusal: Sendable, Hashable {
        /// The file would have become larger than it may.
        case overLimit
        case deadline
        /// The system's word, an errno.
        case system(CInt)
    }

    private static let bufferBytes = 262_144

    let context: UnsafeMutablePointer<AVIOContext>
    private let state: State
    private var reading: DescriptorInput?

    private init(context: UnsafeMutablePointer<AVIOContext>, state: State) {
        unsafe self.context = context
        self.state = state
    }

    deinit {
        unsafe av_freep(&context.pointee.buffer)
        var released: UnsafeMutablePointer<AVIOContext>? = unsafe context
        unsafe avio_context_free(&released)
    }

    /// Empties the file behind a borrowed descriptor, which is open for reading and writing.
    ///
    /// - Parameter bytesMax: A write past it fails, and everything after it.
    package static func open(
        _ descriptor: CInt, bytesMax: Int, deadline: ContinuousClock.Instant
    ) throws(LibAVError) -> DescriptorOutput {
        guard ftruncate(descriptor, 0) == 0 else {
            throw LibAVError(code: CLibAV_errorInputOutput, operation: "ftruncate")
        }
        let state = State(descriptor: descriptor, bytesMax: Int64(clamping: bytesMax), deadline: deadline)
        let buffer = unsafe try LibAVError.allocated(av_malloc(bufferBytes), "av_malloc")
        let context = unsafe avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), CInt(clamping: bufferBytes), 1,
            Unmanaged.passUnretained(state).toOpaque(), nil, writeBytes, seekOutput)
        guard let context = unsafe context else {
            unsafe av_free(buffer)
            throw LibAVError(code: CLibAV_errorNoMemory, operation: "avio_alloc_context")
        }
        return unsafe DescriptorOutput(context: context, state: state)
    }

    /// Why writing ended early; nil while all is well.
    package var refusal: Refusal? { state.refusal }

    /// Bytes of the file so far, as far as they left the buffer.
    package var byteCount: Int { Int(clamping: state.size) }

    /// What was written so far, for the muxer's second pass; one at a time.
    func openReading() throws(LibAVError) -> UnsafeMutablePointer<AVIOContext> {
        let input = try DescriptorInput.open(state.descriptor, deadline: state.deadline)
        reading = input
        return unsafe input.context
    }

    func closeReading() { reading = nil }

    fileprivate final class State {
        let descriptor: CInt
        let bytesMax: Int64
        let deadline: ContinuousClock.Instant
        var position: Int64 = 0
        var size: Int64 = 0
        var refusal: Refusal?

        init(descriptor: CInt, bytesMax: Int64, deadline: ContinuousClock.Instant) {
            self.descriptor = descriptor
            self.bytesMax = bytesMax
            self.deadline = deadline
        }

        static func of(_ opaque: UnsafeMutableRawPointer?) -> State? {
            guard let opaque = unsafe opaque else { return nil }
            return unsafe Unmanaged<State>.fromOpaque(opaque).takeUnretainedValue()
        }

        /// Whether so many bytes may be written; what was refused once stays refused.
        func admits(_ count: Int) -> Bool {
            if refusal != nil { return false }
            if position.adding(clamping: Int64(clamping: count)) > bytesMax { refusal = .overLimit }
            if ContinuousClock.now >= deadline { refusal = .deadline }
            return refusal == nil
        }

        var code: CInt { refusal == .deadline ? CLibAV_errorExit : CLibAV_errorInputOutput }
    }
}

@c private func writeBytes(_ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: CInt)
    -> CInt
{
    guard let state = unsafe DescriptorOutput.State.of(opaque) else { return CLibAV_errorInputOutput }
    let wanted = Int(clamping: count)
    guard state.admits(wanted) else { return state.code }
    var done = 0
    while done < wanted {
        // Bounded: `done` is below `wanted`.
        let (rest, left) = (unsafe buffer.map { unsafe $0 + done }, wanted - done)
        let written = unsafe pwrite(state.descriptor, rest, left, off_t(clamping: state.position))
        if written < 0, errno == EINTR { continue }
        guard written > 0 else {
            state.refusal = .system(errno)
            return state.code
        }
        // Bounded: no more is written than was `left`.
        done += written
        state.position = state.position.adding(clamping: Int64(clamping: written))
        state.size = max(state.size, state.position)
    }
    return count
}

@c private func seekOutput(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: CInt) -> Int64 {
    guard let state = unsafe DescriptorOutput.State.of(opaque) else { return Int64(clamping: CLibAV_errorInputOutput) }
    return seek(&state.position, size: state.size, to: offset, from: whence)
}
