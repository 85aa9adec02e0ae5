public import RichPush

/// The words of a drawn notification.
public struct NotificationText: Encodable, Sendable, Hashable {
    /// The name of the app, which stands where there is no title.
    public var app: String
    public var title: String?
    public var subtitle: String?
    public var body: String?

    public init(app: String = "Your app", title: String? = nil, subtitle: String? = nil, body: String? = nil) {
        (self.app, self.title, self.subtitle, self.body) = (app, title, subtitle, body)
    }

    /// Words that stand for those that nobody knows yet.
    public static let sample = NotificationText(title: "Title", body: "The text of the notification stands here.")

    /// What a payload's alert says (`aps.alert`, a text or an object); a key of a translation stands for its text.
    ///
    /// - Returns: nil for a payload without an alert.
    public init?(payload: PayloadValue) {
        guard let alert = payload["aps"]?["alert"] else { return nil }
        self.init()
        if let body = alert.string {
            self.body = body
            return
        }
        title = alert["title"]?.string ?? alert["title-loc-key"]?.string
        subtitle = alert["subtitle"]?.string ?? alert["subtitle-loc-key"]?.string
        body = alert["body"]?.string ?? alert["loc-key"]?.string
    }
}
