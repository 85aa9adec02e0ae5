import AttachPrepJobs
import HTTPTypes
import Hummingbird
import RichPush
import SafeArithmetic

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
        guard body.mediaType == JSONAnswer.mediaType else {
            throw Problem(.requestInvalid, "The body has to be JSON, with Content-Type: application/json.", status: 415)
        }
        switch try ReceiptBody(try await body.all()) {
        case .one(let report):
            let standings = try await office.take([try arrival(try report.get(), from: address)])
            return try JSONAnswer.response(ReceiptsAnswer(standings, refused: []))
        case .many(let reports): return try await take(reports, from: address)
        }
    }

    /// - Throws: a problem with 401 or 429 for a token that is none.
    private func arrival(_ report: PushReceiptReport, from address: String) throws -> Arrival {
        do {
            return try office.arrival(report)
        } catch {
            guard error.code == .requestUnauthorized else { throw error }
            try countWrongToken(of: address)
            var problem = Problem(error)
            problem.fields[.wwwAuthenticate] = "Bearer"
            throw problem
        }
    }

    /// Each by itself: a phone that sends what it has kept is to be rid of it, whatever one of them is.
    private func take(_ reports: [ReceiptBody.Report], from address: String) async throws -> Response {
        var arrivals: [Arrival] = []
        var refused: [Problem.Line] = []
        for (index, report) in reports.enumerated() {
            do {
                arrivals.append(try office.arrival(try report.get()))
            } catch {
                refused.append(Problem.Line(line: index.adding(clamping: 1), code: error.code, detail: error.message))
            }
        }
        if arrivals.isEmpty, refused.contains(where: { $0.code == .requestUnauthorized }) {
            try countWrongToken(of: address)
        }
        return try JSONAnswer.response(ReceiptsAnswer(try await office.take(arrivals), refused: refused))
    }

    /// A right token always passes: behind a proxy everybody has the same address.
    ///
    /// - Throws: a problem with 429.
    private func countWrongToken(of address: String) throws {
        guard let seconds = wrongTokens.take(address) else { return }
        throw Problem(.requestRateLimited, "Too many receipts from this address have no valid token; slow down.")
            .retrying(after: seconds)
    }
}
