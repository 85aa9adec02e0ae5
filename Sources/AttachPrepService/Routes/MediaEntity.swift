import AttachPrepJobs
import HTTPTypes
import Hummingbird
import RichPush

/// A file as HTTP sees it: its tag, its headers, and which part of it is asked for.
struct MediaEntity {
    private let file: StoredFile
    let tag: EntityTag

    init(_ file: StoredFile) {
        self.file = file
        tag = EntityTag(sha256: file.sha256)
    }

    /// What a cache keeps, said with 304 as well.
    var lasting: HTTPFields {
        [.eTag: tag.text, .cacheControl: "public, max-age=31536000, immutable"]
    }

    var headers: HTTPFields {
        var fields = lasting
        fields[.contentType] = file.mimeType
        fields[.contentDisposition] = "inline; filename=\"\(file.name)\""
        fields[.acceptRanges] = "bytes"
        fields[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        fields[.resourcePolicy] = "cross-origin"
        return fields
    }

    /// The part that is asked for; nil for all of it.
    ///
    /// - Throws: a problem with 416.
    func range(asked request: Request) throws -> Range<Int>? {
        // Of several ranges, and of units we do not know, all is a good answer (RFC 9110, 14.2).
        guard let field = request.headers[.range], holds(request.headers[.ifRange]) else { return nil }
        switch ByteRange(field, of: file.bytes) {
        case .all: return nil
        case .part(let range): return range
        case .none:
            var problem = Problem(
                .requestInvalid, "The file has \(file.bytes) bytes, and the range has none of them.", status: 416)
            problem.fields[.contentRange] = "bytes */\(file.bytes)"
            throw problem
        }
    }

    /// `If-Range`: the strong tag; of dates we have none.
    private func holds(_ condition: String?) -> Bool {
        condition == nil || condition == tag.text
    }
}

/// A `Range` header that was read.
enum ByteRange: Hashable {
    case all
    case part(Range<Int>)
    /// It can be read, but lies behind the end.
    case none

    init(_ field: String, of bytes: Int) {
        guard let sign = field.firstIndex(of: "="), field[..<sign].lowercased() == "bytes" else {
            self = .all
            return
        }
        let ends = field[field.index(after: sign)...].trimmingSpaces()
            .split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { $0 >= 48 && $0 <= 57 } }),
            !(ends[0].isEmpty && ends[1].isEmpty)
        else {
            self = .all
            return
        }
        // Numbers too large for us are behind the end as well.
        let (first, last) = (Int(ends[0]) ?? .max, Int(ends[1]) ?? .max)
        if ends[0].isEmpty {
            // Bounded: both are over 0.
            self = last > 0 && bytes > 0 ? .part(max(0, bytes - last)..<bytes) : .none
        } else if first > last {
            self = .all
        } else {
            // Bounded: bytes are over 0 here, and first is not below it.
            self = first < bytes ? .part(first..<(min(last, bytes - 1) + 1)) : .none
        }
    }
}
