/// What is checked of each piece of media.
enum ItemCheck {
    static let all: [@Sendable (CheckedItem) -> [PayloadWarning]] = [
        insecure, malformed, withoutExtension, contradicted, notAttachable, unknownType, hint, missingType,
        typeAsSuffix,
        notAnimated, fixedName,
    ]

    @Sendable private static func insecure(_ item: CheckedItem) -> [PayloadWarning] {
        [item.item.address.text, item.item.fallbackURL].compactMap(\.self).contains {
            $0.lowercased().hasPrefix("http:")
        }
            ? [
                PayloadWarning(
                    .insecureURL,
                    "\(item.path) is an http URL, which App Transport Security refuses in the app's service extension; "
                        + "serve it over https.")
            ] : []
    }

    @Sendable private static func malformed(_ item: CheckedItem) -> [PayloadWarning] {
        guard case .url = item.item.address, let text = item.text, !MediaAddress.isWellFormed(text) else { return [] }
        return [
            PayloadWarning(
                .urlMalformed,
                "\(item.path) has spaces or other characters that no URL has, and iOS before 17 makes no URL of it; "
                    + "encode them (a space is %20).")
        ]
    }

    @Sendable private static func withoutExtension(_ item: CheckedItem) -> [PayloadWarning] {
        guard case .url = item.item.address, item.namedFormat == nil else { return [] }
        let hasType = item.declared?.format != nil || item.hint?.format != nil
        guard let why = item.naming.missingExtension(item.service, hasType: hasType) else { return [] }
        let what =
            item.fileExtension.map { "ends in .\(SpokenText.word($0)), which is no media type" } ?? "has no extension"
        return [
            PayloadWarning(
                .extensionMissing,
                "\(item.path) \(what): \(why); use a URL whose path ends in the right one, such as .jpg.")
        ]
    }

    @Sendable private static func contradicted(_ item: CheckedItem) -> [PayloadWarning] {
        guard let format = item.namedFormat else { return [] }
        for (declared, what) in [(item.declared, "its type says"), (item.hint, "its type hint says")] {
            guard let declared, let kind = declared.kind else { continue }
            let isSame = declared.format.map { $0.isAttached(like: format) } ?? (kind == format.kind)
            guard !isSame else { continue }
            let name = declared.format?.mimeType ?? kind.rawValue
            return [
                PayloadWarning(
                    .typeContradicted,
                    "\(item.path) is \(format.mimeType) by its extension, but \(what) \(name): iOS goes by one of them "
                        + "and never by the content, and then shows it wrongly or not at all; make them agree.")
            ]
        }
        guard let key = item.key, key.kind != format.kind else { return [] }
        return [
            PayloadWarning(
                .typeContradicted,
                "\(item.path) is \(format.mimeType) by its extension, but the key says \(key.kind.rawValue); use the "
                    + "key for its kind.")
        ]
    }

    @Sendable private static func notAttachable(_ item: CheckedItem) -> [PayloadWarning] {
        let formats = [item.hint?.format, item.declared?.format, item.namedFormat].compactMap(\.self)
        guard let format = formats.first(where: { $0.attachmentType == nil }) else { return [] }
        let name = "\(item.path) is \(format.mimeType)"
        return [
            PayloadWarning(
                .typeNotAttachable,
                format.isTakenUndocumented
                    ? "\(name), which iOS takes so far but Apple does not document as attachable; send "
                        + "\(format.kind.remedy) instead."
                    : "\(name), which iOS drops (error 101): the notification comes without it; send "
                        + "\(format.kind.remedy) instead.",
                level: format.isTakenUndocumented ? .warning : nil)
        ]
    }

    @Sendable private static func unknownType(_ item: CheckedItem) -> [PayloadWarning] {
        if let hint = item.hint, hint.form == .uti, hint.format == nil {
            return [
                PayloadWarning(
                    .typeNotAttachable,
                    "The type hint of \(item.path) is none that iOS attaches, so it drops the file (error 101); write "
                        + "one of Apple's, such as public.jpeg, or leave it out.")
            ]
        }
        guard let text = item.item.declaredType, item.declared?.kind == nil, item.item.place.types.isListed else {
            return []
        }
        return [
            PayloadWarning(
                .typeNotShown,
                "The type of \(item.path), \(SpokenText.quoted(text)), is none that \(item.service) knows, so iOS may "
                    + "not learn the type; write image, jpeg or another of its own.")
        ]
    }

    @Sendable private static func hint(_ item: CheckedItem) -> [PayloadWarning] {
        guard let hint = item.hint, hint.form != .uti else { return [] }
        let remedy = hint.attachmentType.map { ", such as \($0.uti)" } ?? ""
        return [
            PayloadWarning(
                .optionInvalid,
                "The type hint of \(item.path) is no uniform type identifier, so iOS does not know the type and drops "
                    + "the file; write one\(remedy).",
                level: .error)
        ]
    }

    @Sendable private static func missingType(_ item: CheckedItem) -> [PayloadWarning] {
        guard item.item.declaredType == nil, let pattern = item.item.place.fields[.type] else { return [] }
        guard item.item.place.types.isRequired else { return [] }
        return [
            PayloadWarning(
                .extensionMissing,
                "\(item.path) comes without its type (\(pattern.spoken)), and \(item.service)'s SDK then shows no "
                    + "media; give both.",
                level: .error)
        ]
    }

    @Sendable private static func typeAsSuffix(_ item: CheckedItem) -> [PayloadWarning] {
        guard case .fileExtension = item.item.place.types, let declared = item.declared,
            declared.form != .fileExtension || declared.format == nil
        else { return [] }
        let remedy = declared.attachmentType.map(\.fileExtension) ?? "jpg"
        return [
            PayloadWarning(
                .typeNotShown,
                "The type of \(item.path) becomes the file's extension as it is, which gives none iOS knows; write "
                    + "an extension, such as \(remedy).")
        ]
    }

    @Sendable private static func notAnimated(_ item: CheckedItem) -> [PayloadWarning] {
        guard item.namedFormat == .gif, let why = item.whyStill else { return [] }
        return [PayloadWarning(.typeNotShown, "\(item.path) is a GIF, which will not animate: \(why).")]
    }

    @Sendable private static func fixedName(_ item: CheckedItem) -> [PayloadWarning] {
        guard case .fixed("png") = item.naming, let format = item.namedFormat, format.kind != .image else { return [] }
        return [
            PayloadWarning(
                .typeNotShown,
                "\(item.path) is \(format.mimeType), but \(item.service) names every file .png, so iOS shows nothing; "
                    + "send a picture.",
                level: .error)
        ]
    }
}
