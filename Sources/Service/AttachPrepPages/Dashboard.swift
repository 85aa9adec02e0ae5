import AttachPrepModel
import CEmbedded
import FoundationEssentials
import MediaTypes

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
