import HTTPTypes
import Hummingbird
import RichPush

/// What a browser's session may be used for: by our own page alone, since browsers send cookies on their own.
enum SessionRule {
    /// Why a request that a session lets in is refused; nil when it may pass. Who only asks is not looked at: no other
    /// page can read the answer.
    static func objection(to request: Request) -> Problem? {
        guard request.method != .get, request.method != .head, !isOfOurPage(request) else { return nil }
        return Problem(
            .requestUnauthorized,
            "A session is for this service's own page; other pages and programs show a token in Authorization.",
            status: 403)
    }

    /// Browsers that send no `Sec-Fetch-Site` send an `Origin` with what changes something.
    private static func isOfOurPage(_ request: Request) -> Bool {
        if let site = request.headers[.secFetchSite] { return site == "same-origin" }
        guard let origin = request.headers[.origin].flatMap(WebOrigin.init), let authority = request.head.authority
        else { return false }
        return origin.isAsked(by: authority)
    }
}
