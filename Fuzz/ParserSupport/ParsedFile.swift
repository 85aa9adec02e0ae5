import AttachPrepModel
import FuzzSupport
package import MediaProcessing
import MediaTypes

/// Parses a file from memory and through a descriptor, and checks that both give the same result.
///
/// Every eighth input is split by a gap, so that reading crosses the edge of the window.
package final class ParsedFile {
    private let file = MemoryFile()
    private let noun: String

    package init(noun: String) {
        self.noun = noun
    }

    /// Parses the bytes; the last one determines the position of the gap.
    package func check(_ bytes: [UInt8], _ parse: (ByteWindow) throws -> AnyHashable) throws {
        let inMemory = Self.verdict { try parse(ByteWindow(bytes: bytes, noun: noun)) }
        file.replace(with: [(0, bytes)])
        let inFile = Self.verdict {
            try parse(ByteWindow(descriptor: file.descriptor, noun: noun, deadline: .now + .seconds(60)))
        }
        Invariant.hold(inMemory == inFile, "memory and file agree: \(inMemory) against \(inFile)")
        guard bytes.count > 1, bytes.count % 8 == 1 else { return }
        let edge = Int(bytes[bytes.count - 1]) % bytes.count
        let gap = Limits.parseWindowBytes - edge
        file.replace(with: [(0, Array(bytes[..<edge])), (edge + gap, Array(bytes[edge...]))])
        _ = Self.verdict {
            try parse(ByteWindow(descriptor: file.descriptor, noun: noun, deadline: .now + .seconds(60)))
        }
    }

    /// The result of a parser, or the code of its error.
    package static func verdict(_ parse: () throws -> AnyHashable) -> AnyHashable {
        do {
            return try parse()
        } catch let error as AttachPrepError {
            let known: Set<ErrorCode> = [
                .mediaCorrupt, .mediaTooManyFrames, .mediaTooManyPixels, .mediaUnsupported, .mediaUnrecognized,
            ]
            Invariant.hold(known.contains(error.code), "errors blame the file: \(error)")
            return error.code
        } catch {
            Invariant.broken("threw an unexpected error type: \(error)")
        }
    }
}
