import CLibAV
import Glibc
import Linux
import SafeArithmetic

/// An AVIOContext that reads from a descriptor; replaces libav's protocols.
///
/// Reads with `pread`, so that a descriptor shared with another process keeps its offset. After the deadline a read
/// returns `AVERROR_EXIT`, because libav rarely calls the interrupt callback with custom I/O.
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
        // libav can replace the buffer, so the current pointer is freed.
        unsafe av_freep(&context.pointee.buffer)
        var released: UnsafeMutablePointer<AVIOContext>? = unsafe context
        unsafe avio_context_free(&released)
    }

    /// Borrows the descriptor: the caller keeps it open for the lifetime of the returned object.
    ///
    /// - Parameter downloading: Set while the file is still being written.
    static func open(
        _ descriptor: CInt, downloading: DownloadingBytes? = nil, deadline: ContinuousClock.Instant
    ) throws(LibAVError) -> DescriptorInput {
        guard let size = try? FileIO.size(of: descriptor) else {
            throw LibAVError(code: CLibAV_errorInputOutput, operation: "fstat")
        }
        let state = State(
            descriptor: descriptor,
            size: downloading.map { Int64(clamping: $0.total) } ?? size,
            waitForMore: downloading?.waitForMore, deadline: deadline)
        let buffer = unsafe try LibAVError.allocated(av_malloc(bufferBytes), operation: "av_malloc")
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

    /// For `AVFormatContext.interrupt_callback`; valid for the lifetime of this object.
    var interrupt: AVIOInterruptCB {
        unsafe AVIOInterruptCB(callback: isInterrupted, opaque: Unmanaged.passUnretained(state).toOpaque())
    }

    fileprivate final class State {
        private let descriptor: CInt
        let size: Int64
        let waitForMore: (() -> Bool)?
        let deadline: ContinuousClock.Instant
        var position: Int64 = 0

        init(descriptor: CInt, size: Int64, waitForMore: (() -> Bool)?, deadline: ContinuousClock.Instant) {
            self.descriptor = descriptor
            self.size = size
            self.waitForMore = waitForMore
            self.deadline = deadline
        }

        /// Reads at the current position; nil when that fails.
        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
            try? unsafe FileIO.read(descriptor, into: buffer, at: Int(clamping: position))
        }

        /// Waits for more bytes at the current position after a read of 0 bytes; false at the end of the file.
        func waits() -> Bool { position < size && waitForMore?() == true }

        var isExpired: Bool { ContinuousClock.now >= deadline }

        static func of(_ opaque: UnsafeMutableRawPointer?) -> State? {
            guard let opaque = unsafe opaque else { return nil }
            return unsafe Unmanaged<State>.fromOpaque(opaque).takeUnretainedValue()
        }
    }
}

@c private func readBytes(_ opaque: UnsafeMutableRawPointer?, buffer: UnsafeMutablePointer<UInt8>?, count: CInt)
    -> CInt
{
    guard let state = unsafe DescriptorInput.State.of(opaque) else { return CLibAV_errorInputOutput }
    if state.isExpired { return CLibAV_errorExit }
    while true {
        let free = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: max(0, Int(clamping: count)))
        guard let read = unsafe state.read(into: free) else { return CLibAV_errorInputOutput }
        if read == 0, state.waits() { continue }
        if read == 0 { return CLibAV_errorEndOfFile }
        state.position = state.position.adding(clamping: Int64(clamping: read))
        return CInt(clamping: read)
    }
}

@c private func seekBytes(_ opaque: UnsafeMutableRawPointer?, offset: Int64, whence: CInt) -> Int64 {
    guard let state = unsafe DescriptorInput.State.of(opaque) else { return Int64(clamping: CLibAV_errorInputOutput) }
    return seek(&state.position, size: state.size, to: offset, from: whence)
}

@c private func isInterrupted(_ opaque: UnsafeMutableRawPointer?) -> CInt {
    unsafe DescriptorInput.State.of(opaque)?.isExpired == true ? 1 : 0
}

/// A file that is still being written and is read as if it were complete.
package struct DownloadingBytes {
    /// Expected size in bytes.
    package let total: Int
    /// Waits for bytes after the current end; returns false if there will be no more.
    package let waitForMore: () -> Bool

    package init(total: Int, waitForMore: @escaping () -> Bool) {
        self.total = total
        self.waitForMore = waitForMore
    }
}

/// An AVIOContext that writes a file through its descriptor, from offset 0 and up to a size limit.
///
/// Writes with `pwrite`. The MP4 muxer opens its output a second time to move the index to the front; it receives the
/// same descriptor (`openReading`).
@safe package final class DescriptorOutput {
    /// Why a write failed.
    package enum WriteError: Sendable, Hashable {
        /// The file would have exceeded `bytesMax`.
        case overLimit
        case deadline
        /// The errno of `pwrite`.
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

    /// Truncates the file behind a borrowed descriptor, which must be open for reading and writing.
    ///
    /// - Parameter bytesMax: Maximum file size; a write beyond it fails, and so does every later write.
    package static func open(
        _ descriptor: CInt, bytesMax: Int, deadline: ContinuousClock.Instant
    ) throws(LibAVError) -> DescriptorOutput {
        guard ftruncate(descriptor, 0) == 0 else {
            throw LibAVError(code: CLibAV_errorInputOutput, operation: "ftruncate")
        }
        let state = State(descriptor: descriptor, bytesMax: Int64(clamping: bytesMax), deadline: deadline)
        let buffer = unsafe try LibAVError.allocated(av_malloc(bufferBytes), operation: "av_malloc")
        let context = unsafe avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), CInt(clamping: bufferBytes), 1,
            Unmanaged.passUnretained(state).toOpaque(), nil, writeBytes, seekOutput)
        guard let context = unsafe context else {
            unsafe av_free(buffer)
            throw LibAVError(code: CLibAV_errorNoMemory, operation: "avio_alloc_context")
        }
        return unsafe DescriptorOutput(context: context, state: state)
    }

    /// Why writing ended early; nil if no write has failed.
    package var writeError: WriteError? { state.writeError }

    /// File size in bytes, without what is still buffered.
    package var byteCount: Int { Int(clamping: state.size) }

    /// Opens the written bytes for the muxer's second pass; one reader at a time.
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
        var writeError: WriteError?

        init(descriptor: CInt, bytesMax: Int64, deadline: ContinuousClock.Instant) {
            self.descriptor = descriptor
            self.bytesMax = bytesMax
            self.deadline = deadline
        }

        static func of(_ opaque: UnsafeMutableRawPointer?) -> State? {
            guard let opaque = unsafe opaque else { return nil }
            return unsafe Unmanaged<State>.fromOpaque(opaque).takeUnretainedValue()
        }

        /// Whether `count` more bytes may be written; false for good after the first error.
        func admits(_ count: Int) -> Bool {
            if writeError != nil { return false }
            if position.adding(clamping: Int64(clamping: count)) > bytesMax { writeError = .overLimit }
            if ContinuousClock.now >= deadline { writeError = .deadline }
            return writeError == nil
        }

        var code: CInt { writeError == .deadline ? CLibAV_errorExit : CLibAV_errorInputOutput }
    }
}

@c private func writeBytes(_ opaque: UnsafeMutableRawPointer?, buffer: UnsafeMutablePointer<UInt8>?, count: CInt)
    -> CInt
{
    guard let state = unsafe DescriptorOutput.State.of(opaque) else { return CLibAV_errorInputOutput }
    let wanted = Int(clamping: count)
    guard state.admits(wanted) else { return state.code }
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: max(0, wanted))
    do { try unsafe FileIO.write(bytes, to: state.descriptor, at: Int(clamping: state.position)) } catch {
        state.writeError = .system(error.code)
        return state.code
    }
    state.position = state.position.adding(clamping: Int64(clamping: wanted))
    state.size = max(state.size, state.position)
    return count
}

@c private func seekOutput(_ opaque: UnsafeMutableRawPointer?, offset: Int64, whence: CInt) -> Int64 {
    guard let state = unsafe DescriptorOutput.State.of(opaque) else { return Int64(clamping: CLibAV_errorInputOutput) }
    return seek(&state.position, size: state.size, to: offset, from: whence)
}

/// Implements libav's seek callback for a file of `size` bytes: moves the position or returns the size.
///
/// - Returns: The new position, the size for `AVSEEK_SIZE`, or a negative error code.
func seek(_ position: inout Int64, size: Int64, to offset: Int64, from whence: CInt) -> Int64 {
    let base: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return size
    case SEEK_SET: base = 0
    case SEEK_CUR: base = position
    case SEEK_END: base = size
    default: return Int64(clamping: CLibAV_errorInvalidArgument)
    }
    let (target, overflow) = base.addingReportingOverflow(offset)
    if overflow || target < 0 { return Int64(clamping: CLibAV_errorInvalidArgument) }
    position = target
    return target
}
