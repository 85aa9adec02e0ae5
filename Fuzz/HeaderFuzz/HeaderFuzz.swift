import Foundation
import FuzzSupport
import MediaTypes
import SafeArithmetic

@testable import AttachPrep

/// Fuzzes response heads of a hostile server, and the decisions based on them.
///
/// The first two bytes are the number of bytes already downloaded; lines follow, separated by line feeds.
@main enum HeaderFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            let held = input.number(in: 0...4_096)
            let lines = input.rest().split(separator: 0x0A, omittingEmptySubsequences: false)
            var parser = ResponseHeadParser()
            var bytes = 0
            var heads: [ResponseHead] = []
            for line in lines {
                bytes += line.count
                if let head = line.withUnsafeBytes({ parser.parse($0) }) { heads.append(head) }
            }
            Invariant.hold(parser.bytes == bytes, "every header byte is counted")
            Invariant.hold(heads.count <= 1, "an answer has one head")
            for head in heads { check(head, held: held) }
            for line in lines { checkRange(ForeignText(line)) }
        }
    }

    private static func check(_ head: ResponseHead, held: Int) {
        Invariant.hold(head.status >= 200, "an informational response is not a head")
        for field in head.fields { Invariant.hold(field.name == field.name.lowercased, "names are in lowercase") }
        if let length = head.contentLength { Invariant.hold(length >= 0, "no length is negative") }
        if let type = head.mimeType {
            Invariant.hold(!type.isEmpty && !type.contains { $0 == ";" || $0.isWhitespace }, "a type has no parameters")
        }
        checkFreshness(head)
        check(ResponseVerdict(head, resuming: nil), held: nil)
        guard let point = ResumePoint(after: head, bytes: held, total: head.contentLength) else { return }
        Invariant.hold(point.offset > 0, "a resumed download has begun")
        Invariant.hold(
            point.headerLines.allSatisfy { !$0.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } },
            "no server text adds a header line")
        check(ResponseVerdict(head, resuming: point), held: point.offset)
    }

    private static func check(_ verdict: ResponseVerdict, held: Int?) {
        switch verdict {
        case .whole(let total): Invariant.hold(total ?? 0 >= 0, "no total is negative")
        case .continuation(let total):
            Invariant.hold(total ?? .max > held ?? 0, "a continuation is inside the file")
        case .redirect(let location): Invariant.hold(!location.isEmpty, "a redirect leads somewhere")
        default: break
        }
    }

    private static func checkFreshness(_ head: ResponseHead) {
        guard let address = try? WebAddress("https://cdn.example/") else { return }
        let requestedAt = Date(timeIntervalSince1970: 1_795_294_262)
        let freshness = SourceFreshness(head, requestedAt: requestedAt, by: address)
        if let until = freshness.freshUntil {
            let seconds = until.timeIntervalSince(requestedAt)
            Invariant.hold(seconds > 0 && seconds <= Limits.freshSecondsMax, "freshness is limited")
        }
        let lines = ConditionalRequest(freshness.validators, for: address, isFirst: true)?.headerLines ?? []
        Invariant.hold(
            lines.allSatisfy { !$0.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } },
            "no validator adds a header line")
        if let validators = freshness.validators {
            let verdict = ResponseVerdict(head, resuming: nil, asking: validators)
            Invariant.hold(verdict != .unusableCondition, "a response does not contradict its own validators")
        }
    }

    private static func checkRange(_ text: ForeignText) {
        guard let range = ContentRange(text) else { return }
        Invariant.hold(range.first >= 0 && range.first <= range.last, "a range is in order")
        if let total = range.total { Invariant.hold(range.last < total, "a range is inside the file") }
        let written = "bytes \(range.first)-\(range.last)/\(range.total.map(String.init) ?? "*")"
        Invariant.hold(ContentRange(ForeignText(written)) == range, "a range written again reads the same")
    }
}
