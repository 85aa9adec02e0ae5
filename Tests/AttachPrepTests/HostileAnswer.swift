import Foundation
import RichPush
import TestSupport
import Testing

/// One row of a table of bad manners: what a server does, and the code that the download must end with.
struct HostileAnswer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: LoopbackAnswer
    let code: ErrorCode

    init(_ name: String, _ code: ErrorCode, _ answer: LoopbackAnswer) {
        testDescription = name
        self.answer = answer
        self.code = code
    }
}

extension DownloadBench {
    /// Fetches the answer from a server of its own; the download must fail with the row's code.
    ///
    /// - Returns: the requests that it took.
    @discardableResult
    func expectFailure(
        _ row: HostileAnswer, within budget: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [LoopbackRequest] {
        let server = try LoopbackServer()
        server.serve("/cat", row.answer)
        let error = try await failure(of: server.url("/cat"), within: budget)
        #expect(error.code == row.code, "\(error.message) \(error.detail ?? "")", sourceLocation: sourceLocation)
        return server.requests
    }
}
