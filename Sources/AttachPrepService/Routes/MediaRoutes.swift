import AttachPrepJobs
import HTTPTypes
import Hummingbird
import NIOCore
import RichPush

/// `GET /media/{id}/{file}`: what phones fetch. Its address is the right to it, and its content never changes.
struct MediaRoutes: Sendable {
    let store: any ResultStore

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: .get, path: "/media/{id}/{file}", access: .everybody, produces: nil, query: nil,
                respond: serve)
        ]
    }

    @Sendable private func serve(_ request: Request, _ context: ServiceContext) async throws -> Response {
        guard let media = MediaID(context.parameters.get("id") ?? ""), let name = context.parameters.get("file"),
            let file = try await store.file(name, of: media), file.bytes >= 0
        else { throw Self.unknown }
        let entity = MediaEntity(file)
        if entity.tag.isKnown(to: request) { return Response(status: .notModified, headers: entity.lasting) }
        guard let range = try entity.range(asked: request) else {
            return try await content(file, 0..<file.bytes, .ok, entity.headers, context.channel)
        }
        var headers = entity.headers
        headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.bytes)"
        return try await content(file, range, .partialContent, headers, context.channel)
    }

    private func content(
        _ file: StoredFile, _ range: Range<Int>, _ status: HTTPResponse.Status, _ headers: HTTPFields,
        _ channel: any Channel
    ) async throws -> Response {
        // Open before the head is sent: a file that goes now is still read to its end.
        let open: OpenFile
        do {
            open = try await OpenFile.forReading(path: file.path)
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
                // One piece at a time: a client that does not read costs that much.
                try await channel.waitUntilSent()
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }

    private static let unknown = AttachPrepError(
        .requestNotFound, "There is no such file, or its time of keeping is over.")
}
