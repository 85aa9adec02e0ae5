import Foundation

extension BrowserPage {
    /// What axe-core finds wrong with the page as it is now: the rule and the element, a line each.
    ///
    /// axe-core is installed by `make deps-test`; its files are not in the tree.
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
            throw BrowserFailure(description: "make deps-test installs axe-core: \(install.errorText)")
        }
        return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    }
}
