import Foundation
import TestSupport
import Testing

/// `openapi.json` in the source tree.
struct OpenAPIFile {
    /// An operation of a path item.
    struct Operation {
        /// In upper case, as `GET`.
        let method: String
        let path: String
        let object: [String: Any]

        var id: String { object["operationId"] as? String ?? "" }
    }

    let bytes: Data
    private let root: [String: Any]

    init() throws {
        let path = SourceTree.path("Sources/Service/AttachPrepService/OpenAPI/openapi.json")
        bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        root = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }

    /// The value at a JSON pointer (RFC 6901). References on its way are followed, as in
    /// `/components/schemas/Problem/properties/code/enum`.
    func value(_ pointer: String) throws -> Any {
        var value: Any = root
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let key = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            let container = try resolved(value)
            let member = (container as? [String: Any])?[key] ?? element(key, of: container)
            value = try #require(member, "openapi.json has no \(pointer)")
        }
        return try resolved(value)
    }

    func object(_ pointer: String) throws -> [String: Any] {
        try #require(try value(pointer) as? [String: Any], "\(pointer) is not an object")
    }

    func text(_ pointer: String) throws -> String {
        try #require(try value(pointer) as? String, "\(pointer) is not a string")
    }

    func number(_ pointer: String) throws -> Double {
        try #require(try value(pointer) as? NSNumber, "\(pointer) is not a number").doubleValue
    }

    /// Whether the pattern at a JSON pointer matches a whole string.
    func pattern(_ pointer: String, matches string: String) throws -> Bool {
        try Regex(text(pointer)).wholeMatch(in: string) != nil
    }

    /// A value, or what it refers to.
    func resolved(_ value: Any) throws -> Any {
        guard let reference = (value as? [String: Any])?["$ref"] as? String else { return value }
        return try self.value(String(reference.dropFirst()))
    }

    /// All operations of `paths`.
    func operations() throws -> [Operation] {
        try object("/paths").flatMap { path, item in
            try #require(item as? [String: [String: Any]]).map { method, object in
                Operation(method: method.uppercased(), path: path, object: object)
            }
        }
    }

    /// The names of an operation's parameters at a location: `query`, `path` or `header`.
    func parameters(of operation: Operation, in location: String) throws -> Set<String> {
        let parameters = try (operation.object["parameters"] as? [Any] ?? []).map {
            try #require(try resolved($0) as? [String: Any])
        }
        return Set(parameters.filter { $0["in"] as? String == location }.compactMap { $0["name"] as? String })
    }

    private func element(_ key: String, of container: Any) -> Any? {
        guard let list = container as? [Any], let index = Int(key), list.indices.contains(index) else { return nil }
        return list[index]
    }
}
