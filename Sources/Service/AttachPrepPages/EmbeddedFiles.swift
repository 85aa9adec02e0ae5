import CEmbedded
import Crypto
import FoundationEssentials

/// The OpenAPI document of the service, as it is served.
public enum OpenAPIDocument {
    public static var json: [UInt8] { CEmbedded_openapi_json().array }
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
    var array: [UInt8] { unsafe Array(UnsafeBufferPointer(start: bytes, count: count)) }
    var text: String { String(decoding: array, as: UTF8.self) }
}
