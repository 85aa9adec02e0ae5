import AttachPrep
import AttachPrepJobs
import RichPush
import SafeArithmetic

/// JSON Lines: one request a line; empty lines are passed over. All of them are taken, or none.
struct RequestLines {
    /// With their numbers, from 1.
    private let lines: [(number: Int, bytes: ArraySlice<UInt8>)]

    /// - Throws: `request.invalid` for no line at all, `request.too_large` for too many.
    init(_ bytes: [UInt8]) throws {
        let newline = UInt8(ascii: "\n")
        let all = bytes.split(separator: newline, omittingEmptySubsequences: false)
        lines = all.enumerated().map { (number: $0.offset.adding(clamping: 1), bytes: $0.element) }
            .filter { !$0.bytes.allSatisfy { [9, 13, 32].contains($0) } }
        guard !lines.isEmpty else {
            throw AttachPrepError(.requestInvalid, "The body has no request; write one JSON object a line.")
        }
        guard lines.count <= Limits.batchRequestsMax else {
            throw AttachPrepError(
                .requestTooLarge,
                "The batch has \(lines.count) requests, over \(Limits.batchRequestsMax); send it in parts.")
        }
    }

    /// - Throws: a problem that names each bad line.
    func submissions(_ intake: JobIntake) async throws -> [JobSubmission] {
        var submissions: [JobSubmission] = []
        var faults: [Problem.Line] = []
        for line in lines {
            // Thousands of lines must not keep a thread from everybody else.
            if line.number.isMultiple(of: Self.linesAtOnce) { await Task.yield() }
            do {
                submissions.append(try await submission(line.bytes, intake))
            } catch let error as AttachPrepError {
                faults.append(Problem.Line(line: line.number, code: error.code, detail: error.message))
            }
        }
        guard faults.isEmpty else { throw Self.problem(faults, of: lines.count) }
        return submissions
    }

    private static let linesAtOnce = 50

    private func submission(_ bytes: ArraySlice<UInt8>, _ intake: JobIntake) async throws -> JobSubmission {
        guard bytes.count <= Limits.requestBytesMax else {
            throw AttachPrepError(.requestTooLarge, "The line is longer than \(Limits.requestBytesMax) bytes.")
        }
        let request = try AttachmentRequest(json: Array(bytes), defaults: AttachmentRequest(source: ""))
        return try await intake.submission(for: request)
    }

    private static func problem(_ faults: [Problem.Line], of count: Int) -> Problem {
        var problem = Problem(
            faults.first?.code ?? .requestInvalid,
            "\(faults.count) of \(count) lines cannot be taken, so none was; \"errors\" has them by their numbers.")
        problem.lines = faults
        return problem
    }
}
