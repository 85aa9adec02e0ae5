import Hummingbird
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A small JSON object as a request's body.
protocol JSONOrder: Decodable {
    /// The keys it may have.
    static var keys: Set<String> { get }
}

enum JSONBody {
    /// - Throws: `request.invalid`, `request.too_large`, 415 for another media type.
    static func read<Order: JSONOrder>(
        _ request: Request, _ context: ServiceContext, bytesMax: Int = Limits.batchBytesMax
    ) async throws -> Order {
        let body = try RequestBytes(request, context, max: bytesMax)
        guard body.mediaType == JSONAnswer.mediaType else {
            throw Problem(.requestInvalid, "The body has to be JSON, with Content-Type: application/json.", status: 415)
        }
        let bytes = Data(try await body.all())
        do {
            let keys = try JSONDecoder().decode(ObjectKeys.self, from: bytes).keys
            if let unknown = keys.sorted().first(where: { !Order.keys.contains($0) }) {
                throw AttachPrepError(
                    .requestInvalid,
                    "The body has an unknown key \"\(unknown.prefix(40))\"; "
                        + "known are \(Order.keys.sorted().joined(separator: ", ")).")
            }
            return try JSONDecoder().decode(Order.self, from: bytes)
        } catch let error as DecodingError {
            throw AttachPrepError(
                .requestInvalid, "The body is not the JSON object that is asked for; /openapi.json describes it.",
                detail: "\(error)")
        }
    }

    private struct ObjectKeys: Decodable {
        let keys: [String]

        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            keys = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue)
        }
    }
}
