import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import HTTPTypes
import Hummingbird
package import RichPush
import SafeArithmetic

/// `POST /v1/receipts`: receipts of devices, authenticated by the token in the payload instead of a bearer token.
struct ReceiptRoutes: Sendable {
    let receiptService: ReceiptService
    /// By address.
    let requests: RateLimiter
    /// By address, for receipts with an invalid token.
    let wrongTokens: RateLimiter
    let work: AnonymousWork

    var endpoints: [Endpoint] {
        [Endpoint(method: .post, path: ReceiptService.path, access: .anyone, respond: receive)]
    }

    @Sendable private func receive(_ request: Request, in context: ServiceContext) async throws -> Response {
        let address = context.peer ?? ""
        if let seconds = requests.consume(address) {
            throw Problem(.requestRateLimited, "Too many requests with receipts from this address; retry later.")
                .retrying(after: seconds)
        }
        try work.check(address)
        let body = try BoundedRequestBody(request, context, max: Limits.receiptsBytesMax)
        try body.requireJSON()
        let bytes = try await body.all()
        let read = try work.charging(address, bytes: bytes.count, isValid: \.hasReports) { try ReceiptBody(bytes) }
        switch read {
        case .one(let report):
            let statuses = try await receiptService.record([try arrival(try report.get(), from: address)])
            return try JSONResponse.response(ReceiptsResponse(statuses, refused: []))
        case .many(let reports): return try await record(reports, from: address)
        }
    }

    /// - Throws: A problem with status 401 or 429 for an invalid token.
    private func arrival(_ report: PushReceiptReport, from address: String) throws -> VerifiedReceipt {
        do {
            return try receiptService.arrival(report)
        } catch {
            guard error.code == .requestUnauthorized else { throw error }
            try countWrongToken(of: address)
            var problem = Problem(error)
            problem.fields[.wwwAuthenticate] = "Bearer"
            throw problem
        }
    }

    /// Accepts each receipt independently, so that an invalid one does not keep a device from clearing its backlog.
    private func record(_ reports: [ReceiptBody.Report], from address: String) async throws -> Response {
        var arrivals: [VerifiedReceipt] = []
        var refused: [Problem.Line] = []
        for (index, report) in reports.enumerated() {
            do {
                arrivals.append(try receiptService.arrival(try report.get()))
            } catch {
                refused.append(Problem.Line(line: index.adding(clamping: 1), code: error.code, detail: error.message))
            }
        }
        if arrivals.isEmpty, refused.contains(where: { $0.code == .requestUnauthorized }) {
            try countWrongToken(of: address)
        }
        return try JSONResponse.response(ReceiptsResponse(try await receiptService.record(arrivals), refused: refused))
    }

    /// Counts an invalid token. Receipts with a valid one are not counted: behind a proxy all devices have the same
    /// address.
    ///
    /// - Throws: A problem with status 429.
    private func countWrongToken(of address: String) throws {
        guard let seconds = wrongTokens.consume(address) else { return }
        throw Problem(.requestRateLimited, "Too many receipts without a valid token from this address; retry later.")
            .retrying(after: seconds)
    }
}

/// The body of `POST /v1/receipts`: a receipt or a list of receipts, each parsed independently.
enum ReceiptBody {
    typealias Report = Result<PushReceiptReport, AttachPrepError>

    case one(Report)
    case many([Report])

    /// - Throws: `request.invalid` for an empty list or invalid JSON, `request.too_large` for more than
    ///   `receiptsMax` receipts.
    init(_ bytes: [UInt8]) throws {
        let isList = bytes.first { ![9, 10, 13, 32].contains($0) } == UInt8(ascii: "[")
        guard isList else {
            self = .one(Self.reading(of: bytes) { try ForeignJSON.decode(PushReceiptReport.self, from: bytes) })
            return
        }
        let elements: [Element]
        do {
            elements = try ForeignJSON.decode([Element].self, from: bytes)
        } catch {
            throw Self.rejection(error, of: bytes)
        }
        let reports = Self.reports(elements, bytes: bytes)
        guard !reports.isEmpty else { throw AttachPrepError(.requestInvalid, "The list of receipts is empty.") }
        guard reports.count <= Limits.receiptsMax else {
            throw AttachPrepError(
                .requestTooLarge,
                "\(reports.count) receipts exceed the limit of \(Limits.receiptsMax); send several requests.")
        }
        self = .many(reports)
    }

    /// Whether any of it is a receipt.
    var hasReports: Bool {
        let reports =
            switch self {
            case .one(let report): [report]
            case .many(let reports): reports
            }
        return reports.contains { if case .success = $0 { true } else { false } }
    }

    /// An element of a list, which decodes even if it is not a receipt.
    private struct Element: Decodable {
        let report: Result<PushReceiptReport, any Error>

        init(from decoder: any Decoder) throws {
            report = Result { try PushReceiptReport(from: decoder) }
        }
    }

    /// Explains each element that is not a receipt.
    private static func reports(_ elements: [Element], bytes: [UInt8]) -> [Report] {
        let errors = elements.map { element -> DecodingError? in
            if case .failure(let error as DecodingError) = element.report { naming(error) } else { nil }
        }
        let explained = JSONDiagnosis(of: "The receipt").errors(errors, ofElementsIn: bytes)
        return zip(elements, explained).map { element, explained in
            element.report.mapError { explained ?? rejection($0, of: bytes) }
        }
    }

    /// An error that names the outcomes, which `PushReceiptReport` for apps does not.
    private static func naming(_ error: DecodingError) -> DecodingError {
        guard case .dataCorrupted(let context) = error, context.codingPath.last?.stringValue == "outcome" else {
            return error
        }
        return .expected(oneOf: PushReceiptReport.Outcome.allCases.map(\.rawValue), at: context.codingPath)
    }

    private static func reading(of bytes: [UInt8], _ read: () throws -> PushReceiptReport) -> Report {
        do {
            return .success(try read())
        } catch {
            return .failure(rejection(error, of: bytes))
        }
    }

    private static func rejection(_ error: any Error, of bytes: [UInt8]) -> AttachPrepError {
        if let error = error as? DecodingError {
            return JSONDiagnosis(of: "The JSON").error(naming(error), in: bytes)
        }
        return AttachPrepError(.requestInvalid, "The JSON is not a valid receipt.", detail: "\(error)")
    }
}

struct ReceiptsResponse: Encodable {
    /// Receipts that need not be sent again.
    let accepted: Int
    /// Accepted receipts that were new.
    let counted: Int
    /// Receipts that will never be accepted; `line` is the position in the list, from 1.
    let refused: [Problem.Line]

    init(_ statuses: [ReceiptStatus], refused: [Problem.Line]) {
        accepted = statuses.count
        counted = statuses.count { status in
            if case .counted = status { true } else { false }
        }
        self.refused = refused
    }
}

/// `/v1/campaigns`: dispatches and receipts by campaign, and the progress of the jobs with its tag.
struct CampaignRoutes: Sendable {
    let receiptService: ReceiptService
    let catalog: any JobCatalog

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/v1/campaigns", query: ["limit", "cursor"], respond: list),
            Endpoint(method: .get, path: "/v1/campaigns/{name}", respond: show),
        ]
    }

    @Sendable private func list(_ request: Request, in context: ServiceContext) async throws -> Response {
        let query = QueryParameters(request)
        let page = try await receiptService.campaigns(
            after: try query.name("cursor", CampaignCursor.init), limit: try query.limit())
        return try JSONResponse.response(page)
    }

    @Sendable private func show(_ request: Request, in context: ServiceContext) async throws -> Response {
        guard let name = context.parameters.get("name").flatMap(CampaignName.init) else {
            throw AttachPrepError(.requestNotFound, "Not a valid campaign name.")
        }
        let campaign = try await Campaign(try await receiptService.campaign(name), named: name, in: catalog)
        return try JSONResponse.response(campaign)
    }
}

extension Limits {
    /// Receipts of one request: a phone that was offline for long has some dozen.
    package static let receiptsMax = 100
    /// Bytes of such a request: the maximum number of the longest receipts.
    static let receiptsBytesMax = 65_536
}
