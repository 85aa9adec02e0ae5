import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The styles and scripts that pages are put together from, in the order in which they build on each other.
enum PageText {
    /// What every page draws with.
    static let commonStyle = text(
        PackageResources.base_css, PackageResources.results_css, PackageResources.notification_css)
    static let commonScript =
        PageFacts.script
        + text(
            PackageResources.elements_js, PackageResources.words_js, PackageResources.device_js,
            PackageResources.notification_js, PackageResources.drawing_js, PackageResources.facts_js)

    static let reportStyle = commonStyle + text(PackageResources.report_css)
    static let reportScript =
        commonScript
        + text(
            PackageResources.report_totals_js, PackageResources.report_table_js, PackageResources.report_details_js,
            PackageResources.report_js)

    static let dashboardStyle = commonStyle + text(PackageResources.dashboard_css)
    static let dashboardScript =
        commonScript
        + text(
            PackageResources.service_js, PackageResources.place_js, PackageResources.telling_js,
            PackageResources.overview_js, PackageResources.jobs_js, PackageResources.bulk_js, PackageResources.job_js,
            PackageResources.job_export_js, PackageResources.webhooks_js, PackageResources.cropping_js,
            PackageResources.try_js, PackageResources.try_source_js, PackageResources.try_order_js,
            PackageResources.session_js, PackageResources.dashboard_js)

    static func text(_ files: [UInt8]...) -> String {
        files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }

    /// How a content security policy names a style or a script that stands in a page: its digest (CSP 3, 2.3.1).
    static func policySource(_ text: String) -> String {
        "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
    }
}
