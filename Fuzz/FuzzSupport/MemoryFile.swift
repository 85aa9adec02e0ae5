import CLibFuzzer
import Glibc

/// An in-memory file for parsers that read a descriptor; reused for all inputs, since creating it is expensive.
public final class MemoryFile {
    public let descriptor: CInt

    public init() {
        descriptor = memfd_create("fuzz", 0)
        Invariant.hold(descriptor >= 0, "memfd_create succeeds")
    }

    /// Replaces the content: each part at its offset, with zeros between.
    public func replace(with parts: [(place: Int, bytes: [UInt8])]) {
        let length = parts.map { $0.place + $0.bytes.count }.max() ?? 0
        Invariant.hold(ftruncate(descriptor, 0) == 0 && ftruncate(descriptor, off_t(length)) == 0, "ftruncate succeeds")
        for part in parts {
            let written = part.bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(part.place)) }
            Invariant.hold(written == part.bytes.count, "pwrite succeeds")
        }
    }

    /// The content of the file.
    public var bytes: [UInt8] {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, length, 0))
        }
    }
}
