/// `aps.mutable-content` must be 1, as a number or a string: else iOS does not start the service extension.
enum MutableContentCheck {
    static func warnings(_ push: PushCheck) -> [PayloadWarning] {
        if push.isCamelCase, push.aps?["mutableContent"] == .bool(true) { return [] }
        if push.aps?["mutable-content"] == .bool(true) {
            return [
                PayloadWarning(
                    .mutableContentSpelling,
                    "aps.mutable-content is true, and Apple documents the number 1; write \"mutable-content\": 1.")
            ]
        }
        guard let fault = fault(push) else { return [] }
        return [
            PayloadWarning(
                .mutableContentMissing,
                "\(fault), so iOS does not start the app's service extension and shows the notification without media; "
                    + "write \"mutable-content\": 1 inside aps.",
                level: push.maybeLocal ? .note : nil)
        ]
    }

    private static func fault(_ push: PushCheck) -> String? {
        guard let aps = push.aps else {
            return found(push) ?? "The payload has no aps, and mutable-content stands there"
        }
        guard let value = aps["mutable-content"] else {
            return found(push) ?? "aps.mutable-content is missing"
        }
        if value.double == 1 || value == .string("1") { return nil }
        return value.string?.lowercased() == "true"
            ? "aps.mutable-content is \"true\" instead of the number 1" : "aps.mutable-content is not the number 1"
    }

    /// Where it stands instead.
    private static func found(_ push: PushCheck) -> String? {
        let aps = push.aps
        if let key = spellings.first(where: { aps?[$0] != nil }) {
            return "aps.\(key) is not how iOS spells it (mutable-content, with a hyphen)"
        }
        for key in ["mutable-content"] + spellings {
            if push.top[key] != nil { return "\(key) stands beside aps, not inside it" }
            if push.payload[key] != nil { return "\(key) stands at the top of the request, not in its aps" }
            if aps?["alert"]?[key] != nil { return "\(key) stands in aps.alert, not directly in aps" }
        }
        return nil
    }

    /// What people write, after other APIs.
    private static let spellings = [
        "mutable_content", "mutableContent", "mutablecontent", "mutable content", "Mutable-Content", "isMutableContent",
    ]
}
