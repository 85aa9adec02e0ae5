import AttachPrep
package import AttachPrepJobs
import AttachPrepModel
import Hummingbird
import MediaTypes

/// `/v1/pauses`: lists pauses; `/v1/jobs/pause` and `/v1/jobs/resume` begin and end them.
struct PauseRoutes: Sendable {
    let store: any JobStore

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/v1/pauses", respond: list),
            Endpoint(method: .post, path: "/v1/jobs/pause", roles: [.operate], respond: pause),
            Endpoint(method: .post, path: "/v1/jobs/resume", roles: [.operate], respond: resume),
        ]
    }

    @Sendable private func list(_ request: Request, in context: ServiceContext) async throws -> Response {
        try JSONResponse.response(PausesResponse(pauses: try await store.pauses()))
    }

    @Sendable private func pause(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body: PauseRequest = try await JSONBody.read(request, context)
        let pause = try await store.pause(try body.target(), reason: try body.checkedReason(), by: context.token)
        let reason = pause.reason.map { " (\($0))" } ?? ""
        await context.record(.pause, "\(pause.target.words)\(reason)", in: store)
        return try JSONResponse.response(pause)
    }

    @Sendable private func resume(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body: ResumeRequest = try await JSONBody.read(request, context)
        let target = try body.target()
        let hasEnded = try await store.resume(target)
        if hasEnded { await context.record(.resume, target.words, in: store) }
        return try JSONResponse.response(["resumed": hasEnded])
    }
}

/// The jobs to pause, by exactly one of three members, and why.
struct PauseRequest: JSONRequest {
    static let keys: Set = ["all", "lane", "host", "reason"]

    let all: Bool?
    let lane: JobPriority?
    let host: String?
    let reason: String?

    func target() throws -> PauseTarget { try PauseTarget(all: all, lane: lane, host: host) }

    func checkedReason() throws -> String? {
        guard let reason, !reason.isEmpty else { return nil }
        guard reason.count <= Limits.pauseReasonCharactersMax, !reason.contains("\0") else {
            throw AttachPrepError(
                .requestInvalid,
                "\"reason\" must be at most \(Limits.pauseReasonCharactersMax) characters without NUL.")
        }
        return reason
    }
}

/// The jobs whose pause ends.
struct ResumeRequest: JSONRequest {
    static let keys: Set = ["all", "lane", "host"]

    let all: Bool?
    let lane: JobPriority?
    let host: String?

    func target() throws -> PauseTarget { try PauseTarget(all: all, lane: lane, host: host) }
}

package struct PausesResponse: Codable, Sendable {
    package var pauses: [JobPause]
}
