import Foundation
import Glibc
import JPEG
import TestSupport

/// The components of a JPEG, as libjpeg reads them.
enum WrittenJPEG {
    static func planes(of bytes: [UInt8]) throws -> [JPEGPlane] {
        let descriptor = open(try GeneratedMedia.file("planes.jpg", bytes: bytes).path, O_RDONLY)
        defer { close(descriptor) }
        return try JPEGDecoder(descriptor: descriptor).planes(eighths: 8)
    }
}
