import CLibAV
import Glibc
import SafeArithmetic

/// An AVIOContext over a descriptor: the only protocol we have.
///
/// Reads with `pread`, so a descriptor that is shared with another process keeps its own offset. Refuses to read past
/// the deadline, and tells libav so by `AVERROR_EXIT`: libav asks the interrupt callback hardly ever with custom I/O.
@safe final class DescriptorInput {
    private static let bufferBytes = 65_536

    let context: UnsafeMutablePointer<AVIOContext>
    let size: Int64
    private let state: State

    private init(context: UnsafeMutablePointer<AVIOContext>, size: Int64, state: State) {
        unsafe self.context = context
        self.size = size
        self.state = state
    }

    deinit {
        // libav may have replaced the buffer it was given, so it is asked for the present one.
        unsafe av_freep(&context.pointee.buffer)
        var released: UnsafeMutablePointer<AVIOContext>? = unsafe context
        unsafe avio_context_free(&released)
    }

    /// Borrows the descriptor: the caller keeps it open while this lives.
    ///
    /// - Parameter arriving: Where the file is still written to.
    static func open(
        _ descriptor: CInt, arriving: ArrivingBytes? = nil, deadline: ContinuousClock.Instant
    ) throws(LibAVError) -> DescriptorInput {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw LibAVError(code: CLibAV_errorInputOutput, operation: "fstat")
        }
        let state = State(
            descriptor: descriptor, size: arriving.map { Int64(clamping: $0.total) } ?? Int64(clamping: status.st_size),
            waitForMore: arriving?.waitForMore, deadline: deadline)
        let buffer = unsafe try LibAVError.allocated(av_malloc(bufferBytes), "av_malloc")
        let context = unsafe avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), CInt(clamping: bufferBytes), 0,
            Unmanaged.passUnretained(state).toOpaque(),
            readBytes, nil, seekBytes)
        guard let context = unsafe context else {
            unsafe av_free(buffer)
            throw LibAVError(code: CLibAV_errorNoMemory, operation: "avio_alloc_context")
        }
        return unsafe DescriptorInput(context: context, size: state.size, state: state)
    }

    /// For `AVFormatContext.interrupt_callback`; lives as long as this.
    var interrupt: AVIOInterruptCB {
        unsafe AVIOInterruptCB(callback: isInterrupted, opaque: Unmanaged.passUnretained(state).toOpaque())
    }

    fileprivate final class State {
        let descriptor: CInt
        let size: Int64
        let waitForMore: (() -> Bool)?
        let deadline: ContinuousClock.Instant
        var position: Int64 = 0

        init(
            descriptor: CInt, size: Int64, waitForMore: (() -> Bool)?, deadline: ContinuousClock.Instant
        ) {
            self.descriptor = descriptor
            self.size = size
            self.waitForMore = waitForMore
            self.deadline = deadline
        }

        /// Whether there is more to be read at the position, where nothing was.
        func waits() -> Bool { position < size && waitForMore?() == true }

        var isExpired: Bool { ContinuousClock.now >= deadline }

        static func of(_ opaque: UnsafeMutableRawPointer?) -> State? {
            guard let opaque = unsafe opaque else { return nil }
            return unsafe Unmanaged<State>.fromOpaque(opaque).takeUnretainedValue()
        }
    }
}

@c private func readBytes(_ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: CInt)
    -> CInt
{
    guard let state = unsafe DescriptorInput.State.of(opaque) else { return CLibAV_errorInputOutput }
    if state.isExpired { return CLibAV_errorExit }
    while true {
        let read = unsafe pread(state.descriptor, buffer, Int(clamping: count), off_t(clamping: state.position))
        if read < 0, errno == EINTR { continue }
        if read < 0 { return CLibAV_errorInputOutput }
        if read == 0, state.waits() { continue }
        if read == 0 { return CLibAV_errorEndOfFile }
        state.position = state.position.adding(clamping: Int64(clamping: read))
        return CInt(clamping: read)
    }
}

@c private func seekBytes(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: CInt) -> Int64 {
    guard let state = unsafe DescriptorInput.State.of(opaque) else { return Int64(clamping: CLibAV_errorInputOutput) }
    return seek(&state.position, size: state.size, to: offset, from: whence)
}

@c private func isInterrupted(_ opaque: UnsafeMutableRawPointer?) -> CInt {
    unsafe DescriptorInput.State.of(opaque)?.isExpired == true ? 1 : 0
}
