/// Something that a screen reader would say of a page.
public struct AccessibleNode: Sendable, Hashable {
    /// Such as "button", "link", "heading", "StaticText".
    public let role: String
    public let name: String
    public let description: String
    /// What a field holds; empty for all else.
    public let value: String
    /// Such as `focusable`, `disabled`, `expanded`, `checked`, `level`, with what the browser says of each.
    public let states: [String: PageValue]

    /// Whether a state is there and true; a mixed check box is not.
    public func isTrue(_ state: String) -> Bool {
        states[state]?.isTrue == true || states[state]?.text == "true"
    }
}

extension BrowserPage {
    /// What a screen reader would find, in the order of the page; what it would pass over is left out.
    public func accessibilityTree() async throws -> [AccessibleNode] {
        let nodes = try await call("Accessibility.getFullAXTree")["nodes"].items
        let named = Dictionary(nodes.map { ($0["nodeId"], $0) }) { first, _ in first }
        var found: [AccessibleNode] = []
        // The browser lists them level by level; depth first is the order in which they are read.
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
