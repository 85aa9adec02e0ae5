import Foundation
import TestSupport
import Testing

/// SwiftPM compiles a target again when a module changes that it declares, and only then. So each target declares every
/// module that its code imports, and every module that those declare.
@Suite struct DeclaredModulesTests {
    /// The targets as SwiftPM reads them, with the fuzz targets.
    private static func targets() throws -> [PackageTarget] {
        // A build folder of its own, because the project's is locked while its tests run.
        let scratch = try TemporaryFolder()
        let result = try RunCommand(
            "swift",
            ["package", "--package-path", SourceTree.root.path, "--scratch-path", scratch.path, "dump-package"],
            environment: ["ATTACHPREP_FUZZ": "seeds"]
        ).runBlocking()
        try #require(result.exitCode == 0)
        return try JSONDecoder().decode(DumpedPackage.self, from: Data(result.text.utf8)).targets
    }

    @Test func `Every target declares all modules that its modules use`() throws {
        let targets = try Self.targets()
        let texts = try Tree().texts
        #expect(targets.count > 50)
        for finding in DeclaredModules.missing(in: targets, texts) { Issue.record("\(finding)") }
    }

    @Test func `An import and a used module that are not declared are found`() {
        let targets = [
            PackageTarget(name: "A", path: nil, modules: []), PackageTarget(name: "B", path: nil, modules: ["A"]),
            PackageTarget(name: "C", path: nil, modules: ["B"]), PackageTarget(name: "D", path: "Tests/D", modules: []),
        ]
        let texts = [
            TextFile("Sources/B/B.swift", "import A\n"), TextFile("Sources/C/C.swift", "import B\n"),
            TextFile("Tests/D/D.swift", "@testable import C\n"),
        ]
        #expect(
            DeclaredModules.missing(in: targets, texts) == ["C does not declare A", "D does not declare C"])
    }
}

/// What `swift package dump-package` prints of a package.
private struct DumpedPackage: Decodable {
    let targets: [PackageTarget]
}

private struct PackageTarget: Decodable {
    let name: String
    let folder: String
    /// The targets of this package that it declares.
    let modules: Set<String>

    init(name: String, path: String?, modules: Set<String>) {
        (self.name, self.folder, self.modules) = (name, path ?? "Sources/\(name)", modules)
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        name = try values.decode(String.self, forKey: .name)
        let isTest = try values.decode(String.self, forKey: .type) == "test"
        folder =
            try values.decodeIfPresent(String.self, forKey: .path) ?? (isTest ? "Tests/\(name)" : "Sources/\(name)")
        let dependencies = try values.decode([Dependency].self, forKey: .dependencies)
        modules = Set(dependencies.compactMap { $0.target?.first ?? nil })
    }

    private enum CodingKeys: CodingKey { case name, type, path, dependencies }

    private struct Dependency: Decodable {
        let target: [String?]?
    }
}

private enum DeclaredModules {
    static func missing(in targets: [PackageTarget], _ texts: [TextFile]) -> [String] {
        let modules = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0.modules) })
        return targets.flatMap { target in
            let files = texts.filter { $0.isSwift && $0.path.hasPrefix(target.folder + "/") }
            let imported = files.flatMap { $0.code.compactMap(ImportRules.module(importedBy:)) }
                .filter { modules[$0] != nil }
            let used = Set(imported).union(target.modules.flatMap { modules[$0] ?? [] })
            return used.subtracting(target.modules).sorted().map { "\(target.name) does not declare \($0)" }
        }
    }
}
