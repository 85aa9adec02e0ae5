import AttachPrepModel
import CEmbedded
import Crypto
import FoundationEssentials
import RichPush

/// The dashboard of a service, at `/`. It loads everything from the service itself.
///
/// The page has no inline styles or scripts, so that its content security policy can forbid them.
public enum Dashboard {
    /// The response of `GET /`, independent of the query.
    public static let page = PageAsset("", "text/html; charset=utf-8", CEmbedded_dashboard_html().array)

    /// The files of the page below `/assets/`.
    public static let files = [
        PageAsset("icon.svg", "image/svg+xml", CEmbedded_icon_svg().array),
        PageAsset("dashboard.css", "text/css; charset=utf-8", Array(PageBundle.dashboardStyle.utf8)),
        PageAsset("dashboard.js", "text/javascript; charset=utf-8", Array(PageBundle.dashboardScript.utf8)),
    ]
}

/// The OpenAPI document of the service, as it is served.
public enum OpenAPIDocument {
    public static var json: [UInt8] { CEmbedded_openapi_json().array }
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

/// The styles and scripts of the pages.
enum PageBundle {
    static let reportStyle = CEmbedded_common_css().text + CEmbedded_report_css().text
    static let reportScript = commonScript + CEmbedded_report_js().text

    static let dashboardStyle = CEmbedded_common_css().text + CEmbedded_dashboard_css().text
    static let dashboardScript = commonScript + CEmbedded_dashboard_js().text

    private static let commonScript = PageConstants.script + CEmbedded_common_js().text

    /// The hash source of an inline style or script for a content security policy (CSP 3, 2.3.1).
    static func policySource(_ text: String) -> String {
        "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
    }
}

extension CEmbedded_Content {
    fileprivate var array: [UInt8] { unsafe Array(UnsafeBufferPointer(start: bytes, count: count)) }
    fileprivate var text: String { String(decoding: array, as: UTF8.self) }
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
