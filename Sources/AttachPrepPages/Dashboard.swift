/// The page that a service shows at its root. It asks the service for all it shows, and nobody else for anything.
///
/// No style and no script stands in the page itself, so that a content security policy can refuse all that do.
public enum Dashboard {
    /// What `GET /` answers, whatever its query says.
    public static let page = PageAsset("", "text/html; charset=utf-8", PackageResources.dashboard_html)

    /// What the page loads, from `/assets/`.
    public static let files = [
        PageAsset("icon.svg", "image/svg+xml", PackageResources.icon_svg),
        PageAsset("dashboard.css", "text/css; charset=utf-8", Array(PageText.dashboardStyle.utf8)),
        PageAsset("dashboard.js", "text/javascript; charset=utf-8", Array(PageText.dashboardScript.utf8)),
    ]
}
