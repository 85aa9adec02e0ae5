public import RichPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a device said of a notification, read and checked: its token was ours, and its numbers can be.
public struct Arrival: Sendable, Hashable {
    public let dispatch: DispatchID
    /// The device's own name for it.
    public let report: String
    public let outcome: PushReceiptReport.Outcome
    public let attachSeconds: Double
    public let ageSeconds: Double

    /// - Throws: `request.unauthorized` for a token that is not ours; `request.invalid`, which names the member.
    public init(_ report: PushReceiptReport, key: ReceiptKey) throws(AttachPrepError) {
        dispatch = try ReceiptToken.dispatch(of: report.token, key: key)
        guard (1...Limits.receiptNameCharactersMax).contains(report.id.utf8.count),
            report.id.utf8.allSatisfy({ (33...126).contains($0) })
        else {
            throw AttachPrepError(
                .requestInvalid,
                "A receipt's \"id\" has 1 to \(Limits.receiptNameCharactersMax) visible ASCII characters.")
        }
        try Self.check(report.attachSeconds, "attachSeconds", max: Limits.receiptAttachSecondsMax)
        try Self.check(report.ageSeconds, "ageSeconds", max: Limits.receiptAgeSecondsMax)
        self.report = report.id
        outcome = report.outcome
        attachSeconds = report.attachSeconds
        ageSeconds = report.ageSeconds
    }

    private static func check(_ seconds: Double, _ name: String, max secondsMax: Double) throws(AttachPrepError) {
        guard seconds.isFinite, (0...secondsMax).contains(seconds) else {
            throw AttachPrepError(
                .requestInvalid, "A receipt's \"\(name)\" is a number of seconds from 0 to \(Int(secondsMax)).")
        }
    }
}
