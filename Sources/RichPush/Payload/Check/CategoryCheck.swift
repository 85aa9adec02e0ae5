/// A category may belong to a content extension of the app's, which draws the notification itself.
enum CategoryCheck {
    static func warnings(_ push: PushCheck) -> [PayloadWarning] {
        guard let category = push.aps?["category"]?.string, !SpokenText.trimmed(category).isEmpty else { return [] }
        return [
            PayloadWarning(
                .contentExtension,
                "aps.category is \(SpokenText.quoted(category)): when a notification content extension of the app "
                    + "claims it, iOS shows no thumbnail in the collapsed notification and leaves the expanded "
                    + "one to the extension; send media under a category that none claims.")
        ]
    }
}
