internal import CCurl
internal import SafeArithmetic

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Where a transfer stands in what it sends.
struct UploadReader {
    private let upload: TransferUpload
    private var sent = 0

    init(_ upload: TransferUpload) {
        self.upload = upload
    }

    var isOver: Bool { sent == upload.bytes }

    /// Fills a buffer with what comes next; nil when the file has less than it should, or cannot be read.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let wanted = min(buffer.count, upload.bytes.subtracting(clamping: sent))
        guard wanted > 0 else { return 0 }
        var count = -1
        repeat {
            count = unsafe pread(
                // Bounded: the same 64 bits.
                upload.descriptor, buffer.baseAddress, wanted, off_t(upload.offset.adding(clamping: sent)))
        } while count < 0 && errno == EINTR
        guard count > 0 else { return nil }
        sent = sent.adding(clamping: count)
        return count
    }

    /// Goes back, as when a request is sent again over another connection; false for a place outside.
    mutating func move(to place: Int) -> Bool {
        guard 0...upload.bytes ~= place else { return false }
        sent = place
        return true
    }
}

/// CURLOPT_READFUNCTION: CURL_READFUNC_ABORT ends the transfer with CURLE_ABORTED_BY_CALLBACK.
@c func curlRead(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let events = unsafe TransferEvents.from(context) else { return Int(CURL_READFUNC_ABORT) }
    // Bounded: libcurl's own buffer; the size is 1.
    let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    let read = events.connection.watch.outside { unsafe events.send(into: room) }.flatMap(\.self)
    return read ?? Int(CURL_READFUNC_ABORT)
}

/// CURLOPT_SEEKFUNCTION: asked when a request that was begun is sent once more.
@c func curlSeek(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let events = unsafe TransferEvents.from(context), origin == SEEK_SET,
        events.connection.watch.outside({ events.rewind(to: Int(clamping: offset)) }) == true
    else { return CURL_SEEKFUNC_FAIL }
    return CURL_SEEKFUNC_OK
}
