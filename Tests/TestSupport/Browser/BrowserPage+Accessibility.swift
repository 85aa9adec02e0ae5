import Foundation

extension BrowserPage {
    /// The violations that axe-core finds in the page as it is now: the rule and the element, one per line.
    ///
    /// `make deps-test` installs axe-core; its files are not in the repository.
    public func accessibilityFindings() async throws -> [String] {
        if try await evaluate("typeof axe === 'undefined'").isTrue {
            try await evaluate("\(try await Self.axe.value);0")
        }
        let found = try await evaluate(
            """
            axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.flatMap(
                ({ id, help, nodes }) => nodes.map(({ target }) => `${id} (${help}): ${target.join(" ")}`)))
            """)
        return found.items.compactMap(\.text)
    }

    /// The script of axe-core, read once.
    private static let axe = Task {
        let install = try await RunCommand(SourceTree.path("tools/axe/install"), timeoutSeconds: 300).run()
        guard install.exitCode == 0, let path = install.lines.last else {
            throw BrowserError(description: "make deps-test installs axe-core: \(install.errorText)")
        }
        return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    }
}

/// An element of a page that a screen reader would announce.
public struct AccessibleNode: Sendable, Hashable {
    /// For example "button", "link", "heading", "StaticText".
    public let role: String
    public let name: String
    public let description: String
    /// The content of a field; empty for other elements.
    public let value: String
    /// For example `focusable`, `disabled`, `expanded`, `checked`, `level`, with their values.
    public let states: [String: PageValue]

    /// Whether a state is present and true; a mixed check box is not.
    public func isTrue(_ state: String) -> Bool {
        states[state]?.isTrue == true || states[state]?.text == "true"
    }
}

extension BrowserPage {
    /// The elements that a screen reader announces, in the order of the page, without those that it ignores.
    public func accessibilityTree() async throws -> [AccessibleNode] {
        let nodes = try await call("Accessibility.getFullAXTree")["nodes"].items
        let named = Dictionary(nodes.map { ($0["nodeId"], $0) }) { first, _ in first }
        var found: [AccessibleNode] = []
        // The browser lists them level by level; screen readers read them depth first.
        var rest = nodes.filter { named[$0["parentId"]] == nil }
        while let node = rest.popLast() {
            rest += node["childIds"].items.reversed().compactMap { named[$0] }
            // Lines of a text repeat the text above them.
            if !node["ignored"].isTrue, node["role"]["value"] != "InlineTextBox" { found.append(AccessibleNode(node)) }
        }
        return found
    }
}

extension AccessibleNode {
    fileprivate init(_ node: PageValue) {
        role = node["role"]["value"].text ?? ""
        name = node["name"]["value"].text ?? ""
        description = node["description"]["value"].text ?? ""
        let value = node["value"]["value"]
        self.value = value.text ?? value.number.map { String($0) } ?? ""
        let properties = node["properties"].items.compactMap { property in
            property["name"].text.map { ($0, property["value"]["value"]) }
        }
        states = Dictionary(properties) { _, last in last }
    }
}
