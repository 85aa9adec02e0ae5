import AttachPrep
import AttachPrepPages
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ReportPage {
    /// The page of a few results, each of them drawn.
    static func preview(_ items: [ReportItem]) -> ReportPage {
        ReportPage(kind: .preview, title: "As a phone draws it", subtitle: origin, items: items)
    }

    /// The page of a batch.
    ///
    /// - Parameters:
    ///   - list: the name of its list.
    ///   - left: how many lines of it were not worked on.
    static func batch(_ items: [ReportItem], list: String, seconds: Double, left: Int) -> ReportPage {
        let name = list == "-" ? "standard input" : list.split(separator: "/").last.map(String.init) ?? list
        return ReportPage(
            kind: .report, title: "Batch of \(name)", subtitle: origin, seconds: seconds, left: left, items: items)
    }

    private static var origin: String {
        "Made \(Timestamp.text(.now)) by attachprep \(ProductVersion.text). A drawing of what phones were seen to do."
    }
}
