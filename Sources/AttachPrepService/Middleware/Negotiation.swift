import HTTPTypes
import Hummingbird
import RichPush

/// Whether an answer of our kind is wanted, and whether a query says only what is understood.
struct Negotiation: RouterMiddleware {
    typealias Context = ServiceContext

    let produces: String?
    let query: Set<String>?

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        if let produces, !Self.accepts(request.headers[values: .accept], produces) {
            throw Problem(
                .requestInvalid, "The answer is \(produces), which the request's Accept does not allow.", status: 406)
        }
        if let query, let unknown = Query(request).names.first(where: { !query.contains($0) }) {
            let known = query.isEmpty ? "it takes none" : "known are \(query.sorted().joined(separator: ", "))"
            throw Problem(.requestInvalid, "The query has an unknown name \"\(unknown.prefix(40))\"; \(known).")
        }
        return try await next(request, context)
    }

    /// RFC 9110, 12.5.1: the most precise range decides.
    static func accepts(_ fields: [String], _ type: String) -> Bool {
        let ranges = fields.flatMap { $0.split(separator: ",") }.map(AcceptedRange.init)
        guard !ranges.isEmpty else { return true }
        let family = type.prefix { $0 != "/" } + "/*"
        for name in [type, String(family), "*/*"] {
            let matching = ranges.filter { $0.name == name }
            if !matching.isEmpty { return matching.contains { $0.quality > 0 } }
        }
        return false
    }

    private struct AcceptedRange {
        let name: String
        let quality: Double

        init(_ text: Substring) {
            let parts = text.split(separator: ";").map { $0.trimmingSpaces() }
            name = parts.first?.lowercased() ?? ""
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
            quality = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        }
    }
}

extension Substring {
    /// Without spaces and tabs around it.
    func trimmingSpaces() -> Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}
