import Foundation
import Glibc
import TestSupport
import Testing

@testable import JPEG

/// A file that is decoded while it is still written to.
struct ArrivingFileTests {
    @Test(arguments: [700, 5_000, 100_000]) func `A file that comes piece by piece gives the same picture`(
        piece: Int
    ) throws {
        let file = try JPEGFile(["-quality", "95"])
        let bytes = try file.bytes
        let headers = 2_000
        let arriving = try JPEGFile(bytes: Array(bytes.prefix(headers)))
        let target = open(arriving.path, O_RDWR)
        defer { close(target) }
        var there = headers
        let planes = BaselineDecoder.planes(descriptor: target, eighths: 1) {
            guard there < bytes.count else { return false }
            let next = Array(bytes[there..<min(there + piece, bytes.count)])
            there += pwrite(target, next, next.count, off_t(there))
            return true
        }
        #expect(planes == file.planes(eighths: 1))
        #expect(there > bytes.count - 4)
    }

    @Test func `A file whose end never comes gives none`() throws {
        let bytes = try JPEGFile(["-quality", "95"]).bytes
        let arriving = try JPEGFile(bytes: Array(bytes.prefix(bytes.count / 2)))
        let target = open(arriving.path, O_RDONLY)
        defer { close(target) }
        #expect(BaselineDecoder.planes(descriptor: target, eighths: 1) { false } == nil)
    }
}
