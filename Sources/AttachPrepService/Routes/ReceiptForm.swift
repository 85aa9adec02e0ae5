import Hummingbird
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How receipts are written in a body: as JSON, one or a list of them, or one a line.
enum ReceiptForm {
    case whole
    case lines

    typealias Reading = Result<PushReceiptReport, AttachPrepError>

    /// - Throws: a problem with 415.
    init(_ mediaType: String?) throws {
        switch mediaType {
        case JSONAnswer.mediaType: self = .whole
        case "application/x-ndjson", "application/jsonl": self = .lines
        default:
            throw Problem(
                .requestInvalid,
                "The body has to be application/json with a receipt or a list of them, or application/x-ndjson with "
                    + "one a line.", status: 415)
        }
    }

    /// Those that stand in a body, each read or refused by itself.
    ///
    /// - Throws: `request.invalid` for a body that has none, `request.too_large` for one that has too many.
    func reports(_ bytes: [UInt8]) throws -> [Reading] {
        let reports =
            switch self {
            case .whole: try Self.list(bytes)
            case .lines: Self.lines(bytes).map(Self.one)
            }
        guard !reports.isEmpty else { throw AttachPrepError(.requestInvalid, "The body has no receipt.") }
        guard reports.count <= Limits.receiptsMax else {
            throw AttachPrepError(
                .requestTooLarge,
                "The body has \(reports.count) receipts, over \(Limits.receiptsMax); send them in parts.")
        }
        return reports
    }

    private static func list(_ bytes: [UInt8]) throws -> [Reading] {
        guard bytes.first(where: { !isSpace($0) }) == UInt8(ascii: "[") else { return [one(bytes[...])] }
        do {
            return try JSONDecoder().decode([Element].self, from: Data(bytes)).map(\.reading)
        } catch {
            throw refusal(error)
        }
    }

    private static func one(_ bytes: ArraySlice<UInt8>) -> Reading {
        do {
            return .success(try JSONDecoder().decode(PushReceiptReport.self, from: Data(bytes)))
        } catch {
            return .failure(refusal(error))
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "\n")).filter { !$0.allSatisfy(isSpace) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [9, 10, 13, 32].contains(byte) }

    /// One of a list, whatever the others are.
    private struct Element: Decodable {
        let reading: Reading

        init(from decoder: any Decoder) throws {
            do {
                reading = .success(try PushReceiptReport(from: decoder))
            } catch {
                reading = .failure(ReceiptForm.refusal(error))
            }
        }
    }

    private static func refusal(_ error: any Error) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid, "This is not the JSON of a receipt; /openapi.json describes it.", detail: "\(error)")
    }
}
