import AttachPrep
import AttachPrepJobs
import HTTPTypes
import Hummingbird
import NIOCore
import RichPush

/// `POST /v1/payloads`: a payload comes back with media that will arrive.
struct PayloadRoutes: Sendable {
    let jobs: PayloadJobs
    let office: ReceiptOffice
    /// Whether files of results have addresses.
    let knowsAddresses: Bool

    var endpoints: [Endpoint] {
        [Endpoint(method: .post, path: "/v1/payloads", respond: rewrite)]
    }

    @Sendable private func rewrite(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let body = try RequestBytes(request, context, max: Limits.payloadInputBytesMax)
        guard body.mediaType == JSONAnswer.mediaType else {
            throw Problem(.requestInvalid, "The body has to be JSON, with Content-Type: application/json.", status: 415)
        }
        let submission = try PayloadSubmission(try await body.all())
        guard knowsAddresses else {
            throw AttachPrepError(
                .requestInvalid,
                "A payload needs the service's own address, which its operator has not set (base URL).")
        }
        let seconds = Preference(request.headers[values: .prefer]).waitSeconds.map(Double.init)
        let deadline = jobs.deadline(of: submission.template, preferring: seconds)
        let result = try await submission.order.rewritten(
            asking: submission.template, receipt: try await receipt(for: submission),
            addsNeutralObject: submission.addsNeutralObject
        ) { try await jobs.manifest(of: $0, before: deadline) }
        return try PayloadAnswer.response(result)
    }

    private func receipt(for submission: PayloadSubmission) async throws -> PushReceipt? {
        guard submission.campaign != nil else { return nil }
        return try await office.receipt(
            campaign: submission.campaign, recipients: submission.recipients, sentAt: submission.sentAt)
    }
}
