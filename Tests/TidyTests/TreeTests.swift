import TestSupport
import Testing

/// The tree keeps the house rules. Each message names the place and the remedy.
@Suite struct TreeTests {
    private static let tree = Result { try Tree() }

    private func expectNone(_ findings: [Finding], sourceLocation: SourceLocation = #_sourceLocation) {
        for finding in findings { Issue.record("\(finding)", sourceLocation: sourceLocation) }
    }

    private func check(_ rule: (TextFile) -> [Finding]) throws {
        expectNone(try Self.tree.get().texts.flatMap(rule))
    }

    @Test func `The tree is read`() throws {
        let tree = try Self.tree.get()
        #expect(tree.paths.contains("Package.swift"))
        #expect(tree.texts.contains { $0.path == "Sources/Core/MediaTypes/Limits.swift" })
    }

    @Test func `Lines are at most 120 columns`() throws { try check(LineRules.length) }

    @Test func `Nothing is marked as unfinished`() throws { try check(LineRules.markerWords) }

    @Test func `Files end with a line feed`() throws { try check(LineRules.ending) }

    @Test func `Code is indented with spaces`() throws { try check(LineRules.tabs) }

    @Test func `Functions are at most 70 lines`() throws { try check(FunctionLength.check) }

    @Test func `Types are named after nouns`() throws { try check(NameRules.types) }

    @Test func `Files are named after nouns`() throws {
        expectNone(try Self.tree.get().paths.flatMap(NameRules.files))
    }

    @Test func `Names use the field's words`() throws {
        try check(VocabularyRules.names)
        expectNone(try Self.tree.get().paths.flatMap(VocabularyRules.files))
    }

    @Test func `Sentences use plain technical English`() throws { try check(VocabularyRules.sentences) }

    @Test func `Thrown types are named Error`() throws { try check(VocabularyRules.errorTypes) }

    @Test func `No two types share a name`() throws {
        expectNone(VocabularyRules.sharedNames(try Self.tree.get().texts))
    }

    @Test func `Imports follow the arrows, and only a wrapper imports its C module`() throws {
        try check(ImportRules.imports)
        try check(ImportRules.testImports)
    }

    @Test func `The folders of Sources stand on earlier ones`() throws {
        expectNone(ImportRules.folders(try Self.tree.get().texts))
    }

    @Test func `Folders of a module point one way, but for the pairs that are listed`() throws {
        let circles = FolderRules.circles(try Self.tree.get().texts)
        expectNone(circles.filter { !Modules.folderCircles.contains($0.key) }.map(\.value))
        #expect(Modules.folderCircles.subtracting(circles.keys) == [], "these point one way now; remove them")
    }

    @Test func `Arguments have labels`() throws {
        try check(LabelRules.three)
        expectNone(LabelRules.two(try Self.tree.get().texts))
    }

    @Test func `Dependencies in Package.swift follow the arrows`() throws {
        let manifest = try #require(try Self.tree.get().texts.first { $0.path == "Package.swift" })
        expectNone(ImportRules.manifest(manifest))
    }

    @Test func `Shims carry their module's name and their reason`() throws { try check(ShimRules.check) }

    @Test func `Sources have no crashing conversions`() throws { try check(EscapeRules.crashes) }

    @Test func `Escapes from concurrency checks are explained`() throws { try check(EscapeRules.unexplained) }

    @Test func `Numbers from outside meet no arithmetic that can trap`() throws {
        try check(ForeignNumberRules.arithmetic)
    }

    @Test func `Messages that callers of the service read name no flags`() throws { try check(FlagRules.check) }

    @Test func `JSON is decoded after a check of its bytes`() throws { try check(EscapeRules.decoders) }

    @Test func `Tests do not sleep`() throws { try check(EscapeRules.sleeps) }

    @Test func `Nothing generated is tracked`() throws {
        expectNone(try Self.tree.get().paths.flatMap(FileRules.generated))
    }

    @Test func `No file is over 1 MiB`() throws {
        expectNone(try Self.tree.get().paths.flatMap { FileRules.size($0, bytes: try Tree.bytes(of: $0)) })
    }

    @Test func `Folders are short, and samples are small`() throws {
        let paths = try Self.tree.get().paths
        expectNone(FileRules.folders(paths))
        let samples = paths.filter { $0.hasPrefix("samples/media/") }
        expectNone(FileRules.samples(bytes: try samples.map(Tree.bytes).reduce(0, +)))
    }
}
