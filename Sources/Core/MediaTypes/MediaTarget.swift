/// A system that shows the media of a push: what a request's `targets` name, and what a location in a payload belongs
/// to.
///
/// One source is prepared for several targets. The target `ios` is the attachment with its thumbnail; each other target
/// has one or more pictures, the `renditions` of a manifest.
public enum MediaTarget: String, Codable, Sendable, Hashable, CaseIterable {
    /// The attachment of a notification on iPhone, iPad, Mac and Watch.
    case ios
    /// The big picture of an Android notification.
    case android
    /// A notification of a browser: its image, its icon and its badge.
    case web
    /// The sender's picture of a communication notification, from a source of its own.
    case avatar

    /// The part that a picture plays in a notification.
    public enum Role: String, Codable, Sendable, Hashable, CaseIterable {
        /// The large picture.
        case image
        /// The small square picture beside the text.
        case icon
        /// The silhouette in a status bar, of which only the transparency is shown.
        case badge
    }

    /// The key in a manifest's `renditions` of a still of the attachment with few bytes, made when it is named.
    public static let smallerKey = "iosSmall"

    /// The key in a manifest's `renditions` of the picture for a role; nil when the target has none for it: of iOS, the
    /// attachment itself is shown.
    ///
    /// Android shows its small icon from the app's resources, so that only an image comes from a URL.
    public func renditionKey(for role: Role) -> String? {
        switch (self, role) {
        case (.android, .image): "android"
        case (.web, .image): "web"
        case (.web, .icon): "webIcon"
        case (.web, .badge): "webBadge"
        case (.avatar, .image), (.avatar, .icon): "avatar"
        case (.ios, _), (.android, _), (.avatar, .badge): nil
        }
    }
}
