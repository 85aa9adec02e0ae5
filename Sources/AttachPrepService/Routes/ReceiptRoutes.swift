import AttachPrepJobs
import HTTPTypes
import Hummingbird
import RichPush

/// `POST /v1/receipts`: what devices say of notifications that arrived. Nobody is asked for a token but the payload's.
struct ReceiptRoutes: Sendable {
    let office: ReceiptOffice
    /// Of each address.
    let requests: TokenBuckets
    /// Of each address that shows tokens which are none.
    let wrongTokens: TokenBuckets

    var endpoints: [Endpoint] {
        [Endpoint(method: .post, path: ReceiptOffice.path, access: .everybody, respond: take)]
    }

    @Sendable private func take(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let address = context.peer ?? ""
        if let seconds = requests.take(address) {
            throw Problem(.requestRateLimited, "Too many receipts come from this address; come back later.")
                .retrying(after: seconds)
        }
        let body = try RequestBytes(request, context, max: Limits.receiptsBytesMax)
        let form = try ReceiptForm(body.mediaType)
        let reports = try form.reports(try await body.all())
        var arrivals: [Arrival] = []
        var refused: [Problem.Line] = []
        for (index, report) in reports.enumerated() {
            do {
                arrivals.append(try office.arrival(try report.get()))
            } catch {
                refused.append(Problem.Line(line: index + 1, code: error.code, detail: error.message))
            }
        }
        guard !arrivals.isEmpty else { throw try refusal(refused, of: address) }
        let standings = try await office.take(arrivals)
        return try JSONAnswer.response(ReceiptsAnswer(standings, refused: refused))
    }

    /// What one is told none of whose receipts can be taken.
    ///
    /// - Throws: a problem with 429 for an address that goes on trying: a right token always passes.
    private func refusal(_ refused: [Problem.Line], of address: String) throws -> Problem {
        guard let first = refused.first else { return Problem(.requestInvalid, "The body has no receipt.") }
        if refused.contains(where: { $0.code == .requestUnauthorized }), let seconds = wrongTokens.take(address) {
            throw Problem(.requestRateLimited, "Too many receipts from this address have no valid token; slow down.")
                .retrying(after: seconds)
        }
        var problem = Problem(first.code, first.detail)
        if refused.count > 1 { problem.lines = refused }
        if first.code == .requestUnauthorized { problem.fields[.wwwAuthenticate] = "Bearer" }
        return problem
    }
}
