import AttachPrepModel
package import MediaEngine
public import MediaTypes

/// The systems that a request's media is prepared for. iOS is always one of them: its attachment decides the outcome.
///
/// In JSON a list of names, such as `["ios", "android", "web"]`.
public struct RequestTargets: Sendable, Hashable {
    /// The names beside `ios`, each once, in the order in which their pictures are made.
    public private(set) var names: [String]
    /// The pictures of the names; empty until `resolve` has found them.
    private(set) var renditions: [TargetRendition] = []

    /// iOS alone.
    public init() { names = [] }

    /// - Parameter targets: Order and repetition do not matter.
    public init(_ targets: some Sequence<MediaTarget>) {
        let named = Set(targets)
        names = MediaTarget.allCases.filter { $0 != .ios && named.contains($0) }.map(\.rawValue)
    }

    /// - Throws: `request.invalid` for an empty list, too many names, or one that no target can have.
    public init(names: [String]) throws {
        guard !names.isEmpty, names.count <= Limits.targetsMax else {
            throw AttachPrepError(
                .requestInvalid,
                "The list of targets has \(names.count) entries; give 1 to \(Limits.targetsMax), such as ios, android.")
        }
        try names.forEach(Self.validate)
        // Their bytes are ASCII from here on.
        let known = TargetTable.names(profiles: [])
        let own = names.filter { !known.contains($0) }
        self.names = known.filter { $0 != MediaTarget.ios.rawValue && names.contains($0) }
        for name in own where !self.names.contains(name) { self.names.append(name) }
    }

    /// Parses the form of the command line: `ios,android,web`.
    ///
    /// - Throws: `request.invalid`.
    public init(text: String) throws {
        try self.init(names: text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
    }

    /// Whether only iOS is named.
    public var isEmpty: Bool { names.isEmpty }

    public func contains(_ target: MediaTarget) -> Bool { target == .ios || names.contains(target.rawValue) }

    /// Adds a target.
    public mutating func insert(_ target: MediaTarget) {
        guard !contains(target) else { return }
        let all = names + [target.rawValue]
        let known = TargetTable.names(profiles: [])
        names = known.filter(all.contains) + all.filter { !known.contains($0) }
        renditions = []
    }

    /// Finds the pictures of the names.
    ///
    /// - Parameter profiles: The rows of the operator.
    /// - Throws: `request.invalid` for an unknown name, with the known ones.
    mutating func resolve(profiles: [TargetRendition]) throws {
        var rows: [TargetRendition] = []
        for name in names {
            guard let found = TargetTable.rows(named: name, profiles: profiles) else {
                throw AttachPrepError(
                    .requestInvalid,
                    "The target \"\(name)\" is unknown; known targets are "
                        + "\(TargetTable.names(profiles: profiles).joined(separator: ", ")).")
            }
            for row in found where !rows.contains(where: { $0.key == row.key }) { rows.append(row) }
        }
        renditions = rows
    }

    /// - Throws: `request.invalid` for an unknown name, as `resolve`.
    package func check(profiles: [TargetRendition]) throws {
        var targets = self
        try targets.resolve(profiles: profiles)
    }

    /// The pictures whose size an operator has chosen: a change of them changes the result.
    var ownRows: [TargetRendition] { renditions.filter { row in !TargetTable.rows.contains(row) } }

    /// - Throws: `request.invalid` for anything but a letter and up to 31 letters, digits or dashes, all ASCII.
    static func validate(name: String) throws {
        let bytes = Array(name.utf8)
        let isLetter = { (byte: UInt8) in 0x61...0x7A ~= byte || 0x41...0x5A ~= byte }
        guard let first = bytes.first, isLetter(first), bytes.count <= Limits.targetNameCharactersMax,
            bytes.allSatisfy({ isLetter($0) || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-") })
        else {
            throw AttachPrepError(
                .requestInvalid,
                "\(PrintableText.quoted(name)) is not a target; known targets are "
                    + "\(TargetTable.names(profiles: []).joined(separator: ", ")).")
        }
    }
}

extension RequestTargets: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(names: decoder.singleValueContainer().decode([String].self))
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode([MediaTarget.ios.rawValue] + names)
    }
}

extension OptionForm where Value == RequestTargets {
    /// A list of names.
    static var targets: OptionForm {
        let pattern = "^[A-Za-z][A-Za-z0-9-]{0,\(Limits.targetNameCharactersMax - 1)}$"
        return OptionForm(
            schema: #"""
                "type": ["array", "null"], "minItems": 1, "maxItems": \#(Limits.targetsMax),
                "items": {"type": "string", "pattern": "\#(pattern)"}
                """#,
            examples: ["ios", "ios,android,web"], parse: { try RequestTargets(text: $0) },
            text: { ([MediaTarget.ios.rawValue] + $0.names).joined(separator: ",") })
    }
}
