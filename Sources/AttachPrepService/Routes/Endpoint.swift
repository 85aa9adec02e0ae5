import HTTPTypes
import Hummingbird

/// One thing that can be asked for: a method and a path.
struct Endpoint: Sendable {
    /// Who may ask.
    enum Access: Sendable {
        case everybody
        /// Who shows a token.
        case callers
        /// Who shows a token, and with `--loopback-metrics` who is on this machine.
        case callersAndLoopback
    }

    /// The method of the answer's handler; HEAD goes along with GET.
    var method: HTTPRequest.Method
    /// As in OpenAPI: `/v1/jobs/{id}`.
    var path: String
    var access = Access.callers
    /// The media type of a good answer that is negotiated; nil when it is what it is.
    var produces: String? = JSONAnswer.mediaType
    /// The names that a query may have; nil does not look.
    var query: Set<String>? = []
    var respond: @Sendable (Request, ServiceContext) async throws -> Response

    /// Whether a request's path is one of this endpoint's.
    func matches(path requested: String) -> Bool {
        let parts = { (path: String) in path.split(separator: "/", omittingEmptySubsequences: true) }
        let (mine, theirs) = (parts(path), parts(requested))
        return mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}

extension [Endpoint] {
    /// The methods that a path has, as the `Allow` header writes them; nil for a path that is none.
    func allowed(at path: String) -> String? {
        let matching = filter { $0.matches(path: path) }
        let literal = matching.filter { !$0.path.contains("{") }
        let methods = (literal.isEmpty ? matching : literal).flatMap {
            $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue]
        }
        return methods.isEmpty ? nil : methods.sorted().joined(separator: ", ")
    }
}
