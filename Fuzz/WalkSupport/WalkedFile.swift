import FuzzSupport
package import MediaProcessing
import RichPush

/// A file that is walked twice, from memory and through a descriptor: both have to come to the same.
///
/// Every eighth input is torn apart over more than one of the window's lengths, so that a walk crosses its edges.
package final class WalkedFile {
    private let file = MemoryFile()
    private let noun: String

    package init(noun: String) {
        self.noun = noun
    }

    /// Walks bytes whose first one says where they are torn.
    package func check(_ bytes: [UInt8], _ walk: (ByteWindow) throws -> AnyHashable) throws {
        let inMemory = Self.verdict { try walk(ByteWindow(bytes: bytes, noun: noun)) }
        file.replace(with: [(0, bytes)])
        let inFile = Self.verdict {
            try walk(ByteWindow(descriptor: file.descriptor, noun: noun, deadline: .now + .seconds(60)))
        }
        Invariant.hold(inMemory == inFile, "memory and file agree: \(inMemory) against \(inFile)")
        guard bytes.count > 1, bytes.count % 8 == 1 else { return }
        let edge = Int(bytes[bytes.count - 1]) % bytes.count
        let gap = Limits.walkWindowBytes - edge
        file.replace(with: [(0, Array(bytes[..<edge])), (edge + gap, Array(bytes[edge...]))])
        _ = Self.verdict {
            try walk(ByteWindow(descriptor: file.descriptor, noun: noun, deadline: .now + .seconds(60)))
        }
    }

    /// What came of a walk: its result, or its error's code.
    package static func verdict(_ walk: () throws -> AnyHashable) -> AnyHashable {
        do {
            return try walk()
        } catch let error as AttachPrepError {
            let known: Set<ErrorCode> = [
                .mediaCorrupt, .mediaTooManyFrames, .mediaTooManyPixels, .mediaUnsupported, .mediaUnrecognized,
            ]
            Invariant.hold(known.contains(error.code), "a stranger's file is at fault, not we: \(error)")
            return error.code
        } catch {
            Invariant.broken("threw what is no error of ours: \(error)")
        }
    }
}
