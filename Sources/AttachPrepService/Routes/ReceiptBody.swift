import Hummingbird
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What stands in the body of `POST /v1/receipts`: a receipt, or a list of them, each read or refused by itself.
enum ReceiptBody {
    /// One that was read, or why it cannot be.
    typealias Report = Result<PushReceiptReport, AttachPrepError>

    case one(Report)
    case many([Report])

    /// - Throws: `request.invalid` for an empty list and for what is no JSON, `request.too_large` for too long a list.
    init(_ bytes: [UInt8]) throws {
        let isList = bytes.first { ![9, 10, 13, 32].contains($0) } == UInt8(ascii: "[")
        guard isList else {
            self = .one(Self.reading { try JSONDecoder().decode(PushReceiptReport.self, from: Data(bytes)) })
            return
        }
        let reports: [Report]
        do {
            reports = try JSONDecoder().decode([Element].self, from: Data(bytes)).map(\.report)
        } catch {
            throw Self.refusal(error)
        }
        guard !reports.isEmpty else { throw AttachPrepError(.requestInvalid, "The body's list has no receipt.") }
        guard reports.count <= Limits.receiptsMax else {
            throw AttachPrepError(
                .requestTooLarge,
                "The body has \(reports.count) receipts, over \(Limits.receiptsMax); send them in parts.")
        }
        self = .many(reports)
    }

    /// One of a list, whatever the others are.
    private struct Element: Decodable {
        let report: Report

        init(from decoder: any Decoder) throws {
            report = ReceiptBody.reading { try PushReceiptReport(from: decoder) }
        }
    }

    private static func reading(_ read: () throws -> PushReceiptReport) -> Report {
        do {
            return .success(try read())
        } catch {
            return .failure(refusal(error))
        }
    }

    private static func refusal(_ error: any Error) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid, "This is not the JSON of a receipt; /openapi.json describes it.", detail: "\(error)")
    }
}
