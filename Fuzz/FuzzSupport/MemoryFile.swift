import CLibFuzzer
import Glibc

/// A file that is only in memory, for parsers that take a descriptor; one for all inputs, since opening costs most.
public final class MemoryFile {
    public let descriptor: CInt

    public init() {
        descriptor = memfd_create("fuzz", 0)
        Invariant.hold(descriptor >= 0, "a file in memory can be made")
    }

    /// Makes these the file's bytes, the first part at 0 and the others at the places given, with zeros between.
    public func replace(with parts: [(place: Int, bytes: [UInt8])]) {
        let length = parts.map { $0.place + $0.bytes.count }.max() ?? 0
        Invariant.hold(ftruncate(descriptor, 0) == 0 && ftruncate(descriptor, off_t(length)) == 0, "it takes a length")
        for part in parts {
            let written = part.bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(part.place)) }
            Invariant.hold(written == part.bytes.count, "it takes bytes")
        }
    }

    /// What it holds.
    public var bytes: [UInt8] {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, length, 0))
        }
    }
}
