import AttachPrepModel
package import MediaEngine
package import MediaTypes
import PushPayload
import RichPush

/// The pictures that can be requested beside iOS's attachment: one row for each, with its limits.
///
/// The sources of the numbers are in `docs/reference/targets.md`.
package enum TargetTable {
    /// The rows in the order in which they are made.
    package static let rows = [
        TargetRendition(
            MediaTarget.smallerKey, width: Limits.displayImageSidePixelsMax, height: Limits.displayImageSidePixelsMax,
            fit: .whole, bytesMax: Limits.smallerBytesMax, bytesAim: Limits.targetImageBytesAim),
        TargetRendition(
            "android", width: 1_024, height: 512, bytesMax: Limits.androidImageBytesMax,
            bytesAim: Limits.targetImageBytesAim),
        TargetRendition(
            "web", width: 1_350, height: 675, bytesMax: Limits.webImageBytesMax,
            bytesAim: Limits.targetImageBytesAim),
        TargetRendition(
            "webIcon", width: 256, height: 256, bytesMax: Limits.webIconBytesMax, bytesAim: Limits.webIconBytesAim),
        TargetRendition(
            "webBadge", width: 96, height: 96, fit: .whole, content: .silhouette, bytesMax: Limits.webIconBytesMax,
            bytesAim: Limits.webIconBytesAim),
        TargetRendition(
            "avatar", width: 256, height: 256, bytesMax: Limits.avatarBytesMax, bytesAim: Limits.avatarBytesMax),
    ]

    /// The rows of a name: of a target, of one of its pictures, or of a profile; nil for an unknown name.
    static func rows(named name: String, profiles: [TargetRendition]) -> [TargetRendition]? {
        switch MediaTarget(rawValue: name) {
        case .ios: []
        // A badge is a drawing of its own, so that it is made only when it is named; a smaller still costs as much as
        // another target.
        case .web: rows.filter { ["web", "webIcon"].contains($0.key) }
        case .android, .avatar, nil: (rows + profiles).first { $0.key == name }.map { [$0] }
        }
    }

    /// The rows of an operator's settings.
    ///
    /// - Throws: `request.invalid` for an invalid one, a name that occurs twice, or too many.
    package static func profiles(_ texts: [String]) throws -> [TargetRendition] {
        var profiles: [TargetRendition] = []
        for text in texts {
            let profile = try TargetRendition(profile: text)
            guard !profiles.contains(where: { $0.key == profile.key }) else {
                throw AttachPrepError(.requestInvalid, "The target profile \"\(profile.key)\" occurs twice.")
            }
            profiles.append(profile)
        }
        guard profiles.count <= Limits.targetProfilesMax else {
            throw AttachPrepError(
                .requestInvalid, "\(profiles.count) target profiles are more than \(Limits.targetProfilesMax).")
        }
        return profiles
    }

    /// The names that a request can have, for messages.
    static func names(profiles: [TargetRendition]) -> [String] {
        [MediaTarget.ios.rawValue] + (rows + profiles).map(\.key)
    }
}

/// An operator's profile of a target, for a service with limits of its own: `pushover:1024x1024:5000000`.
extension TargetRendition {
    /// Parses `NAME:WIDTHxHEIGHT:BYTES`, or `NAME:WIDTHxHEIGHT:BYTES:crop` to fill the box.
    ///
    /// - Throws: `request.invalid` for another form, a name that is taken, or numbers out of range.
    package init(profile text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let box = parts.count > 1 ? parts[1] : ""
        let sides = box.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard (3...4).contains(parts.count), parts.count == 3 || parts[3] == "crop", sides.count == 2,
            let width = sides[0], let height = sides[1], let bytes = Int(parts[2]),
            (1...Limits.targetSidePixelsMax).contains(width), (1...Limits.targetSidePixelsMax).contains(height),
            (Limits.targetBytesMin...Limits.imageBytesMax).contains(bytes)
        else {
            throw AttachPrepError(
                .requestInvalid,
                "The target profile \(PrintableText.quoted(text)) is invalid; give NAME:WIDTHxHEIGHT:BYTES, such as "
                    + "pushover:1024x1024:5000000, with sides up to \(Limits.targetSidePixelsMax) pixels and "
                    + "\(Limits.targetBytesMin) to \(Limits.imageBytesMax) bytes; add :crop to fill the box.")
        }
        try RequestTargets.validate(name: parts[0])
        let taken = TargetTable.rows.map(\.key) + MediaTarget.allCases.map(\.rawValue) + Self.fileNames
        guard !taken.contains(parts[0]) else {
            throw AttachPrepError(
                .requestInvalid, "The name \"\(parts[0])\" of a target profile is taken; choose another one.")
        }
        self.init(
            parts[0], width: width, height: height, fit: parts.count == 4 ? .smartCrop : .whole, bytesMax: bytes,
            bytesAim: bytes)
    }

    /// Names of other files in the folder of a result.
    private static let fileNames = RenderOutput.own.map(\.description) + ["manifest", "source"]
}

extension Limits {
    /// Firebase's Android SDK gives up after 5 s. A phone on 3G has 300 KB after 1.8 s, so that half of its bandwidth
    /// is enough as well; a whole mebibyte takes it 5.5 s.
    package static let targetImageBytesAim = 300_000
    /// What RichPush fetches in Low Data Mode.
    package static let smallerBytesMax = Limits.deviceLowDataBytesMax
    /// Browsers document no limit; what Android accepts is enough for twice the pixels of its image.
    package static let webImageBytesMax = 1_048_576
    /// 256 x 256 pixels with transparency, uncompressed, are 262,144 bytes.
    package static let webIconBytesMax = 262_144
    /// A photograph of 256 pixels has about 20 KB, a drawing less.
    package static let webIconBytesAim = 50_000
    /// An extension keeps the sender's picture in memory, of 24 MB, beside the attachment.
    package static let avatarBytesMax = 50_000
    /// The longest side of an operator's profile in pixels: the longest of a thumbnail.
    static let targetSidePixelsMax = 4_096
    /// The least bytes of an operator's profile: any image can be reduced to so many.
    static let targetBytesMin = 10_000
    /// An operator's profiles of targets: their names are listed in messages.
    static let targetProfilesMax = 32
    /// Targets of one request: the table's and some of the operator's.
    static let targetsMax = 16
    /// Characters of the name of a target.
    static let targetNameCharactersMax = 32
}
