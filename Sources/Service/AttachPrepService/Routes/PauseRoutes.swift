import AttachPrep
package import AttachPrepJobs
import AttachPrepModel
import Hummingbird
import RichPush

/// `/v1/pauses`: lists pauses; `/v1/jobs/pause` and `/v1/jobs/resume` begin and end them.
struct PauseRoutes: Sendable {
    let store: any JobStore

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/v1/pauses", respond: list),
            Endpoint(method: .post, path: "/v1/jobs/pause", respond: pause),
            Endpoint(method: .post, path: "/v1/jobs/resume", respond: resume),
        ]
    }

    @Sendable private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try JSONResponse.response(PausesResponse(pauses: try await store.pauses()))
    }

    @Sendable private func pause(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let body: PauseRequest = try await JSONBody.read(request, context)
        let pause = try await store.pause(try body.target(), reason: try body.checkedReason(), by: context.token)
        return try JSONResponse.response(pause)
    }

    @Sendable private func resume(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let body: ResumeRequest = try await JSONBody.read(request, context)
        return try JSONResponse.response(["resumed": try await store.resume(try body.target())])
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
