import AttachPrepModel
import Crypto
import FoundationEssentials
import RichPush

/// The dashboard of a service, at `/`. It loads everything from the service itself.
///
/// The page has no inline styles or scripts, so that its content security policy can forbid them.
public enum Dashboard {
    /// The response of `GET /`, independent of the query.
    public static let page = PageAsset("", "text/html; charset=utf-8", PackageResources.dashboard_html)

    /// The files of the page below `/assets/`.
    public static let files = [
        PageAsset("icon.svg", "image/svg+xml", PackageResources.icon_svg),
        PageAsset("dashboard.css", "text/css; charset=utf-8", Array(PageBundle.dashboardStyle.utf8)),
        PageAsset("dashboard.js", "text/javascript; charset=utf-8", Array(PageBundle.dashboardScript.utf8)),
    ]
}

/// A file of the dashboard.
public struct PageAsset: Sendable, Hashable {
    /// The last path component of its URL, such as `dashboard.js`.
    public var name: String
    /// The value of `Content-Type`.
    public var mediaType: String
    public var bytes: [UInt8]

    init(_ name: String, _ mediaType: String, _ bytes: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.bytes = bytes
    }
}

/// The bundled styles and scripts of the pages, in order of their dependencies.
enum PageBundle {
    /// Shared by report, preview and dashboard.
    static let commonStyle = text(
        PackageResources.base_css, PackageResources.results_css, PackageResources.notification_css)
    static let commonScript =
        PageConstants.script
        + text(
            PackageResources.elements_js, PackageResources.formatting_js, PackageResources.device_js,
            PackageResources.notification_js, PackageResources.drawing_js, PackageResources.manifest_details_js)

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
            PackageResources.service_js, PackageResources.routing_js, PackageResources.dialogs_js,
            PackageResources.overview_js, PackageResources.workers_js, PackageResources.jobs_js,
            PackageResources.bulk_js, PackageResources.job_js, PackageResources.job_export_js,
            PackageResources.webhooks_js, PackageResources.cropping_js, PackageResources.try_js,
            PackageResources.try_source_js, PackageResources.try_request_js, PackageResources.session_js,
            PackageResources.dashboard_js)

    static func text(_ files: [UInt8]...) -> String {
        files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }

    /// The hash source of an inline style or script for a content security policy (CSP 3, 2.3.1).
    static func policySource(_ text: String) -> String {
        "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
    }
}

/// Constants for the scripts of all pages: device time limits and network profiles, from the same tables as the rest of
/// the product.
struct PageConstants: Encodable {
    struct Network: Encodable {
        let name: String
        let label: String
        let bitsPerSecond: Double
        let roundTripSeconds: Double
    }

    /// Seconds that a service extension has: 30 as documented by Apple, 8 as measured on devices.
    let appleSeconds = Limits.deviceBudgetSeconds
    let measuredSeconds = Limits.displayDeviceBudgetSeconds
    /// Placeholder text for notifications without a payload.
    let sample = NotificationText.sample
    let networks = NetworkProfile.allCases.map { profile in
        Network(
            name: profile.rawValue, label: profile.label, bitsPerSecond: profile.bitsPerSecond,
            roundTripSeconds: profile.roundTripSeconds)
    }

    /// A line of JavaScript that defines the constants.
    static var script: String {
        // Cannot fail: all values are finite numbers and strings.
        let json = (try? JSONEncoder.singleLine.text(PageConstants())) ?? "{}"
        // "use strict" must be the first statement of the bundled script.
        return "\"use strict\";\nconst attachprepFacts = Object.freeze(\(json));\n"
    }
}

extension NetworkProfile {
    /// The display name.
    fileprivate var label: String {
        switch self {
        case .threeG: "3G"
        case .lte: "LTE"
        case .wifi: "Wi-Fi"
        }
    }
}

extension Limits {
    /// The time of a service extension, as documented by Apple.
    static let deviceBudgetSeconds = 30.0
}
