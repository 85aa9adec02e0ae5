import HTTPTypes
import Hummingbird

/// What a browser may do with the page and its files: what they are made for, and nothing else.
struct PagePolicy: Sendable {
    /// Where files of results are fetched.
    private let media: [WebOrigin]

    init(_ settings: ServiceSettings) {
        media = [settings.baseURL, settings.publishedURL].compactMap { $0.flatMap(WebOrigin.init) }
    }

    /// The headers of an answer to a request: an origin that is asked is its page's own.
    func headers(for request: Request) -> HTTPFields {
        let others = media.filter { !$0.isAsked(by: request.head.authority ?? "") }.map { " \($0.text)" }.joined()
        let rules = [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:\(others)",
            "media-src 'self' data: blob:\(others)", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
        ]
        return [
            .contentSecurityPolicy: rules.joined(separator: "; "), .referrerPolicy: "no-referrer",
            .openerPolicy: "same-origin",
        ]
    }
}
