import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import HTTPTypes
import Hummingbird
import MediaTypes
import NIOCore

/// `GET /media/{id}/{file}`: serves result files to devices. The unguessable URL is the authorization; the content
/// behind a URL never changes.
struct MediaRoutes: Sendable {
    let store: any ResultStore

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: .get, path: "/media/{id}/{file}", access: .anyone, produces: nil, query: nil,
                respond: serve)
        ]
    }

    @Sendable private func serve(_ request: Request, in context: ServiceContext) async throws -> Response {
        guard let media = MediaID(context.parameters.get("id") ?? ""), let name = context.parameters.get("file"),
            let file = try await storedFile(name, of: media), file.bytes >= 0
        else { throw Self.unknown }
        let entity = MediaEntity(file)
        if entity.tag.isKnown(to: request) { return Response(status: .notModified, headers: entity.cacheHeaders) }
        guard let range = try entity.range(requestedBy: request) else {
            return try await content(
                file, range: 0..<file.bytes, status: .ok, headers: entity.headers, channel: context.channel)
        }
        var headers = entity.headers
        headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.bytes)"
        return try await content(
            file, range: range, status: .partialContent, headers: headers, channel: context.channel)
    }

    /// The file with a name of the manifest, or with its suggested name, in which URLs end.
    private func storedFile(_ name: String, of media: MediaID) async throws -> StoredFile? {
        if let file = try await store.file(name, of: media) { return file }
        guard let suggested = PublishedFile.parse(suggestedName: name),
            let file = try await store.file(suggested.name, of: media), file.sha256.hasPrefix(suggested.digits)
        else { return nil }
        return file
    }

    private func content(
        _ file: StoredFile, range: Range<Int>, status: HTTPResponse.Status, headers: HTTPFields,
        channel: any Channel
    ) async throws -> Response {
        // Opens before the head is sent: a file that is deleted meanwhile can still be read to its end.
        let open: AsyncFile
        do {
            open = try await AsyncFile(file.path, .read)
        } catch {
            throw Self.unknown
        }
        let body = ResponseBody(contentLength: range.count) { writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let piece = try await open.piece(at: offset, before: range.upperBound)
                // Bounded: never past the range's end, which is an Int.
                offset += piece.readableBytes
                try await writer.write(piece)
                // One buffer at a time bounds the memory for a client that does not read.
                try await channel.waitUntilSent()
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }

    private static let unknown = AttachPrepError(
        .requestNotFound, "No such file, or its retention period has ended.")
}

/// A stored file as an HTTP representation: entity tag, headers and requested range.
struct MediaEntity {
    private let file: StoredFile
    let tag: EntityTag

    init(_ file: StoredFile) {
        self.file = file
        tag = EntityTag(sha256: file.sha256)
    }

    /// The headers of 200, 206 and 304 responses.
    var cacheHeaders: HTTPFields {
        [.eTag: tag.text, .cacheControl: "public, max-age=31536000, immutable"]
    }

    var headers: HTTPFields {
        var fields = cacheHeaders
        fields[.contentType] = file.mimeType
        let name = PublishedFile(name: file.name, sha256: file.sha256).suggestedName
        fields[.contentDisposition] = "inline; filename=\"\(name)\""
        fields[.acceptRanges] = "bytes"
        fields[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        fields[.resourcePolicy] = "cross-origin"
        return fields
    }

    /// The requested byte range; nil for the whole file.
    ///
    /// - Throws: A problem with status 416 for a range beyond the end.
    func range(requestedBy request: Request) throws -> Range<Int>? {
        // Multiple ranges and unknown units are answered with the whole file (RFC 9110, 14.2).
        guard let field = request.headers[.range], holds(request.headers[.ifRange]) else { return nil }
        switch ByteRange(field, of: file.bytes) {
        case .all: return nil
        case .part(let range): return range
        case .none:
            var problem = Problem(
                .requestInvalid, "The range is beyond the file's \(file.bytes) bytes.", status: 416)
            problem.fields[.contentRange] = "bytes */\(file.bytes)"
            throw problem
        }
    }

    /// Whether `If-Range` is absent or equals the entity tag; files have no date, so a date never matches.
    private func holds(_ condition: String?) -> Bool {
        condition == nil || condition == tag.text
    }
}

enum ByteRange: Hashable {
    case all
    case part(Range<Int>)
    /// Valid, but beyond the end.
    case none

    init(_ field: String, of bytes: Int) {
        guard let sign = field.firstIndex(of: "="), field[..<sign].lowercased() == "bytes" else {
            self = .all
            return
        }
        let ends = field[field.index(after: sign)...].trimmingSpaces
            .split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { $0 >= 48 && $0 <= 57 } }),
            !(ends[0].isEmpty && ends[1].isEmpty)
        else {
            self = .all
            return
        }
        // Numbers that overflow Int are beyond the end.
        let (first, last) = (Int(ends[0]) ?? .max, Int(ends[1]) ?? .max)
        if ends[0].isEmpty {
            // Bounded: both are positive.
            self = last > 0 && bytes > 0 ? .part(max(0, bytes - last)..<bytes) : .none
        } else if first > last {
            self = .all
        } else {
            // Bounded: 0 <= first < bytes, so bytes - 1 does not underflow and the end is at most bytes.
            self = first < bytes ? .part(first..<(min(last, bytes - 1) + 1)) : .none
        }
    }
}

/// A strong entity tag: the SHA-256 of the content, the same on every instance.
struct EntityTag: Sendable {
    /// The `ETag` header's value, with quotes.
    let text: String

    /// - Parameter sha256: in hexadecimal.
    init(sha256: String) {
        text = "\"\(sha256)\""
    }

    /// Whether `If-None-Match` contains this tag or `*` (RFC 9110, 13.1.2).
    func isKnown(to request: Request) -> Bool {
        request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.contains { field in
            let known = field.trimmingSpaces
            return known == "*" || known == text || known == "W/\(text)"
        }
    }
}
