import AttachPrepJobs
import Hummingbird
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `GET /v1/overview`: the service and its jobs at a glance.
struct OverviewRoutes: Sendable {
    private let figures: RecentValue<StoreFigures>
    private let surroundings: Surroundings
    private let readiness: @Sendable () async -> ReadinessReport
    private let startedAt = Date.now

    init(
        store: any JobStore, surroundings: Surroundings, readiness: @escaping @Sendable () async -> ReadinessReport
    ) {
        figures = RecentValue(for: .seconds(Limits.overviewSeconds)) { try await StoreFigures(of: store) }
        self.surroundings = surroundings
        self.readiness = readiness
    }

    var endpoints: [Endpoint] { [Endpoint(method: .get, path: "/v1/overview", respond: show)] }

    @Sendable private func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try JSONAnswer.response(
            OverviewAnswer(
                startedAt: startedAt, figures: try await figures.value(), surroundings: surroundings,
                readiness: await readiness()))
    }
}
