import ArgumentParser
import AttachPrepModel

/// A flag that a row of a table describes.
struct TableFlag: Sendable {
    enum Kind: Sendable {
        /// Without a value.
        case onOff
        /// With a value, of which the last one counts.
        case value
        /// With a value, repeatable.
        case list
    }

    /// Without dashes.
    let name: String
    let kind: Kind
    let help: String
    /// The placeholder of the value; nil for the name.
    let valueName: String?
    /// The values for completion in a shell; empty if they cannot be listed.
    var choices: [String] = []
    /// Throws `ValidationError` for a text that cannot be a value.
    var check: @Sendable (String) throws -> Void = { _ in }

    /// The property that declares the flag.
    fileprivate var declaration: Any {
        let (name, help) = (NameSpecification.customLong(name), ArgumentHelp("\(help)", valueName: valueName))
        let completion = choices.isEmpty ? nil : CompletionKind.list(choices)
        let parse: @Sendable (String) throws -> String = { [check] text in
            try check(text)
            return text
        }
        return switch kind {
        case .onOff: Flag(wrappedValue: false, name: name, help: help)
        case .value: Option<String?>(name: name, help: help, completion: completion, transform: parse)
        case .list:
            Option<[String]>(wrappedValue: [], name: name, help: help, completion: completion, transform: parse)
        }
    }

    /// The values that were given.
    fileprivate func values(in values: KeyedDecodingContainer<AnyKey>) throws -> [String] {
        let key = AnyKey(stringValue: name)
        return switch kind {
        case .onOff: try values.decode(Flag<Bool>.self, forKey: key).wrappedValue ? ["true"] : []
        case .value: try values.decode(Option<String?>.self, forKey: key).wrappedValue.map { [$0] } ?? []
        case .list: try values.decode(Option<[String]>.self, forKey: key).wrappedValue
        }
    }
}

/// A group of flags of which each is a row of a table instead of a property.
///
/// ArgumentParser finds the flags of a group in its mirror, and their values by the names there.
protocol FlagTable: ParsableArguments, CustomReflectable {
    static var table: [TableFlag] { get }
    /// The values that were given, by the flag's name.
    var given: [String: [String]] { get }

    init(given: [String: [String]])
}

extension FlagTable {
    init() { self.init(given: [:]) }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: AnyKey.self)
        self.init(given: try Self.table.reduce(into: [:]) { $0[$1.name] = try $1.values(in: values) })
    }

    var customMirror: Mirror {
        Mirror(self, children: Self.table.map { (label: $0.name, value: $0.declaration) })
    }
}
