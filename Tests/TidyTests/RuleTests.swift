import Testing

/// Every rule can fail, names the line, and lets good code pass.
@Suite struct RuleTests {
    private func lines(_ findings: [Finding]) -> [Int?] { findings.map(\.line) }

    @Test func `A finding names file, line and remedy`() {
        #expect("\(Finding("a/b.swift", 3, "do this"))" == "a/b.swift:3: do this")
        #expect("\(Finding("a/b.bin", nil, "do that"))" == "a/b.bin: do that")
    }

    @Test func `Long lines`() {
        let text = String(repeating: "a", count: 120) + "\n" + String(repeating: "b", count: 121) + "\n"
        #expect(lines(LineRules.length(TextFile("Sources/Group/A/B.swift", text))) == [2])
        #expect(lines(LineRules.length(TextFile("tool", "#!/bin/sh\n" + text))) == [3])
        #expect(LineRules.length(TextFile("README.md", text)).isEmpty)
    }

    @Test func `Marker words`() {
        for marker in LineRules.markers {
            #expect(lines(LineRules.markerWords(TextFile("a.md", "fine\n// \(marker): later\n"))) == [2])
            #expect(LineRules.markerWords(TextFile("a.sh", "mktemp \(marker)\(marker)\n")).isEmpty)
        }
    }

    @Test func `Endings and tabs`() {
        #expect(lines(LineRules.ending(TextFile("a.md", "one\ntwo"))) == [2])
        #expect(LineRules.ending(TextFile("a.md", "one\ntwo\n")).isEmpty)
        #expect(LineRules.ending(TextFile("a.md", "")).isEmpty)
        #expect(lines(LineRules.tabs(TextFile("a.swift", "a\n\tb\n"))) == [2])
        #expect(LineRules.tabs(TextFile("Makefile", "a:\n\tb\n")).isEmpty)
    }

    @Test(arguments: [
        "func f() {", "    init(x: Int) throws {", "deinit {", "var x: Int {", "static func g(\n    a: Int\n) -> Int {",
        "subscript(index: Int) -> Int {",
    ])
    func `Long functions`(opening: String) {
        let added = opening.count { $0 == "\n" }
        func file(bodyLines: Int) -> TextFile {
            let body = String(repeating: "    { \"}\" }()  // }\n", count: bodyLines - added)
            return TextFile("Sources/Group/A/B.swift", "struct S {\n\(opening)\n\(body)}\nlet x = 1\n}\n")
        }
        #expect(lines(FunctionLength.check(file(bodyLines: 69))) == [2])
        #expect(FunctionLength.check(file(bodyLines: 68)).isEmpty)
    }

    @Test func `A requirement has no body`() {
        let rest = String(repeating: "    let x = 1\n", count: 100)
        let text = "protocol P {\n    func f(a: Int) throws\n        -> Int\n}\nstruct S {\n\(rest)}\n"
        #expect(FunctionLength.check(TextFile("Sources/Group/A/B.swift", text)).isEmpty)
    }

    @Test func `Empty names`() {
        #expect(NameRules.files("Sources/Group/Utils/Image.swift").count == 1)
        #expect(NameRules.files("Sources/Group/Vips/ImageHelpers.swift").count == 1)
        #expect(NameRules.files("Sources/Group/Vips/Image.swift").isEmpty)
        let text = "let manager = FileManager.default\nfinal class PoolManager {}\nextension FileManager {}\n"
        #expect(lines(NameRules.types(TextFile("a.swift", text))) == [2])
    }

    @Test(arguments: [
        ("final class ServiceDesk {}", 1), ("let deskURL = 1", 1), ("let desktop = 1", 0), ("case isGrey", 1),
        ("func colourTurn() {}", 1), ("// the desk", 0), ("let text = \"let desk = 1\"", 0), ("let wallet = 1", 0),
    ])
    func `Names outside the vocabulary are found`(line: String, count: Int) {
        #expect(VocabularyRules.names(TextFile("Sources/Group/A/B.swift", "\(line)\n")).count == count)
    }

    @Test func `Names outside the vocabulary are found in scripts and SQL`() {
        #expect(lines(VocabularyRules.names(TextFile("a/b.js", "const said = 1;\nconst data = 1;\n"))) == [1])
        #expect(lines(VocabularyRules.names(TextFile("tools/b.py", "def refusal():\n    pass\n"))) == [1])
        let sql = "let tables = \"CREATE TABLE told (id TEXT)\"\nlet more = \"ADD COLUMN heard_at INTEGER\"\n"
        #expect(lines(VocabularyRules.names(TextFile("Sources/Group/A/B.swift", sql))) == [1, 2])
    }

    @Test func `Files named outside the vocabulary are found`() {
        #expect(VocabularyRules.files("Sources/Group/A/ReceiptOffice.swift").count == 1)
        #expect(VocabularyRules.files("Sources/Group/Rooms/A.swift").count == 1)
        #expect(VocabularyRules.files("Sources/Group/A/ReceiptService.swift").isEmpty)
    }

    @Test func `Phrases outside the vocabulary are found in code and documents`() {
        #expect(
            lines(VocabularyRules.sentences(TextFile("Sources/Group/A/B.swift", "let a = 1\n/// Written anew.\n"))) == [
                2
            ])
        #expect(lines(VocabularyRules.sentences(TextFile("docs/a.md", "Its colours are lost.\n"))) == [1])
        #expect(VocabularyRules.sentences(TextFile("docs/a.md", "Its colors are kept.\n")).isEmpty)
        #expect(VocabularyRules.sentences(TextFile("CHANGELOG.md", "Its colours are lost.\n")).isEmpty)
    }

    @Test func `Thrown types without Error in their name are found`() {
        let text = "struct StoreFault: Error {}\nenum QueueError: Swift.Error {}\nstruct Plain: Sendable {}\n"
        #expect(lines(VocabularyRules.errorTypes(TextFile("Sources/Group/A/B.swift", text))) == [1])
    }

    @Test func `Types that share a name are found across modules`() {
        let files = ["A", "B"].map {
            TextFile("Sources/Group/\($0)/C.swift", "struct Arrival {}\nprivate struct Inner {}\n")
        }
        #expect(VocabularyRules.sharedNames(files).map(\.path) == ["Sources/Group/B/C.swift"])
    }

    @Test func `Import statements are read`() {
        #expect(ImportRules.module(importedBy: "import Foundation") == "Foundation")
        #expect(ImportRules.module(importedBy: "public import RichPush") == "RichPush")
        #expect(ImportRules.module(importedBy: "@preconcurrency package import CVips") == "CVips")
        #expect(ImportRules.module(importedBy: "import struct Foundation.URL") == "Foundation")
        #expect(ImportRules.module(importedBy: "let important = 1") == nil)
    }

    @Test(arguments: [
        ("Sources/Group/MediaProcessing/A.swift", "CVips"), ("Sources/Group/MediaLibraries/LibAV/A.swift", "CVips"),
        ("Sources/Group/RichPush/A.swift", "MediaEngine"), ("Sources/Group/AttachPrep/A.swift", "MediaProcessing"),
        ("Sources/Group/AttachPrepCommand/A.swift", "MediaLibraries"), ("Sources/Group/Curl/A.swift", "Zlib"),
        ("Sources/Group/RichPush/A.swift", "Dispatch"), ("Sources/Group/MediaProcessing/A.swift", "Logging"),
        ("Sources/Group/AttachPrep/A.swift", "FoundationNetworking"), ("Sources/Group/Nowhere/A.swift", "Foundation"),
    ])
    func `Imports against the arrows`(path: String, module: String) {
        let findings = ImportRules.imports(TextFile(path, "import Foundation\npublic import \(module)\n"))
        #expect(findings.count == 1)
        #expect(findings.first.map { $0.line == 2 || $0.description.contains("Nowhere") } == true)
    }

    @Test func `Imports along the arrows`() {
        #expect(
            ImportRules.imports(TextFile("Sources/Group/MediaLibraries/Vips/A.swift", "internal import CVips\n"))
                .isEmpty)
        #expect(
            ImportRules.imports(TextFile("Sources/Group/AttachPrep/A.swift", "import Curl\nimport Crypto\n")).isEmpty)
        #expect(ImportRules.imports(TextFile("Sources/Group/AttachPrep/A.swift", "// import MediaLibraries\n")).isEmpty)
        #expect(lines(ImportRules.testImports(TextFile("Tests/VipsTests/A.swift", "import CVips\n"))) == [1])
    }

    @Test func `A folder that stands on a later one, and one without a place`() {
        let files = [
            TextFile("Sources/Core/A/A.swift", "import B\n"), TextFile("Sources/Media/B/B.swift", "import A\n"),
            TextFile("Sources/Other/C/C.swift", "import A\n"),
        ]
        #expect(ImportRules.folders(files).map(\.path) == ["Sources/Other/C/C.swift", "Sources/Core/A/A.swift"])
    }

    @Test func `Two folders that use each other`() {
        let files = [
            TextFile("Sources/Group/M/A/One.swift", "struct One { let other: Two }\n"),
            TextFile("Sources/Group/M/B/Two.swift", "struct Two {}\nfunc make() { _ = One.self }\n"),
            TextFile("Sources/Group/M/C/Three.swift", "// One and Two\nprivate struct Four { let one: One }\n"),
            TextFile("Sources/Group/N/B/Five.swift", "struct Five { let one: One }\n"),
        ]
        #expect(FolderRules.circles(files).keys.sorted() == ["M/A <-> M/B"])
    }

    @Test func `Dependencies against the arrows`() {
        let good = "targets: [\n    module(\"MediaLibraries\", [\"CMedia\"]),\n    room(\"RichPush\"),\n]\n"
        #expect(ImportRules.manifest(TextFile("Package.swift", good)).isEmpty)
        let bad = """
            targets: [
                module("MediaEngine", ["RichPush", "MediaLibraries"]),
                .executableTarget(
                    name: "AttachPrepCommand",
                    dependencies: ["AttachPrep", "MediaProcessing", .product(name: "Logging", package: "swift-log")]),
                module("Attic", []),
            ]
            """
        #expect(Set(lines(ImportRules.manifest(TextFile("Package.swift", bad)))) == [2, 3, 6])
    }

    @Test func `Shims without name or reason`() {
        let text = """
            #include <vips/vips.h>
            // Variadic in C.
            static inline int CVips_save(VipsImage *image) { return 0; }

            static inline int CVips_silent(void) { return 0; }
            // A macro Swift does not see.
            static const int CVips_one = 1;
            static const int CVips_two = 2;
            /* Has a reason, not a name. */
            static inline __attribute__((unused)) int
            open_it(void);
            """
        let findings = ShimRules.check(TextFile("Sources/Libraries/CMedia/CVips.h", text))
        #expect(lines(findings) == [5, 10])
        #expect(findings.last?.description.contains("open_it") == true)
        #expect(ShimRules.check(TextFile("Sources/Libraries/CMedia/other.h", text)).isEmpty)
    }

    @Test func `Functions with arguments without labels`() {
        let text = """
            func a(_ b: Int, _ c: [Int: Int] = [:],
                _ d: (Int, Int)
            ) {}
            func e(_ f: Int, g: Int, _ work: () -> Void) {}
            static func h(_ i: Int, _ j: Int) {}
            static func == (_ k: Int, _ l: Int) -> Bool {}
            """
        let file = TextFile("Sources/Group/A/B.swift", text)
        #expect(LabelRules.functions(file).map(\.unlabeled) == [3, 1, 2])
        #expect(lines(LabelRules.three(file)) == [1])
        #expect(lines(LabelRules.two([file])) == [1, 5])
        #expect(LabelRules.functions(TextFile("Tests/A/B.swift", text)).isEmpty)
    }

    @Test func `Long folders and large samples`() {
        let paths = (1...27).map { "Sources/Group/A/\($0).swift" } + (1...26).map { "Sources/Group/B/\($0).swift" }
        #expect(FileRules.folders(paths).map(\.description).count == 1)
        #expect(FileRules.samples(bytes: 2_000_001).count == 1)
        #expect(FileRules.samples(bytes: 2_000_000).isEmpty)
    }

    @Test func `Crashing conversions`() {
        let text = "let a = try! f()\nlet b = c as! D\nlet e = \"try!\"  // as!\nlet g = try? f()\n"
        #expect(lines(EscapeRules.crashes(TextFile("Sources/Group/A/B.swift", text))) == [1, 2])
        #expect(EscapeRules.crashes(TextFile("Tests/A/B.swift", text)).isEmpty)
    }

    @Test func `Unexplained escapes`() {
        let text = """
            final class A: @unchecked Sendable {}
            // Immutable after init; the library says reading is safe from any thread.
            final class B: @unchecked Sendable {}
            /// Guarded by the lock.
            @safe
            nonisolated(unsafe) var c = 1
            nonisolated(unsafe) var d = 1
            """
        #expect(lines(EscapeRules.unexplained(TextFile("Sources/Group/A/B.swift", text))) == [1, 7])
    }

    @Test func `Flags in messages`() {
        let text = "let a = \"raise --budget\"\n// see --budget\nlet b = \"a--b\"\nlet c = n--\n"
        #expect(lines(FlagRules.check(TextFile("Sources/Group/AttachPrep/B.swift", text))) == [1])
        #expect(FlagRules.check(TextFile("Sources/Group/AttachPrepCommand/B.swift", text)).isEmpty)
    }

    @Test func `Decoders of unchecked JSON`() {
        let text = "let a = try JSONDecoder().decode(A.self)\nlet c = JSONDecoder()\ntry decoder.decode(A.self)\n"
        #expect(lines(EscapeRules.decoders(TextFile("Sources/Group/A/B.swift", text))) == [1, 3])
        #expect(EscapeRules.decoders(TextFile("Tests/A/B.swift", text)).isEmpty)
    }

    @Test func `Sleeping tests`() {
        let text = "try await Task.sleep(for: .seconds(1))\nusleep(5)\n// sleep(1)\nlet sleepy = 1\n"
        #expect(lines(EscapeRules.sleeps(TextFile("Tests/A/B.swift", text))) == [1, 2])
        #expect(EscapeRules.sleeps(TextFile("Sources/Group/A/B.swift", text)).isEmpty)
    }

    @Test(arguments: [
        "let end = range.last + 1", "end += length", "let size = width * height", "a = b / divisor",
        "let rest = total - bytes", "let n = Int(seconds)", "let n = UInt32(count * 2)", "let n = Int(Double(x) / y)",
        "let a = 1 << bits", "let b = off_t(start + done)",
        "self.end = Int(field.value)", "let pages = UInt8(number)", "x = y % page",
        "let n = Int(CURLcode)", "let n = Int(_size)",
    ])
    func `Operations that can trap on a foreign number`(line: String) {
        #expect(lines(ForeignNumberRules.findings(in: TextFile("Sources/Group/A/B.swift", "\(line)\n"))) == [1])
    }

    @Test(arguments: [
        "let end = range.last.adding(clamping: 1)", "count += 1", "let text = \"a\" + name",
        "let list = heads + [tail]",
        "let half = width / 2", "let size = Limits.pixelsMax * 4", "let both = a.count + b.count", "x = ratio * 0.5",
        "let n = Int(clamping: seconds)", "guard let n = Int(text) else { return nil }", "let n = Int(text) ?? 0",
        "if let last = Int(parts[1]), last > 0 {", "let n = Int(exactly: value)", "wait(for: .seconds(5))",
        "wait(.seconds(Limits.stallSecondsMax))", "let a = b &+ c", "let n = Int(bytes.count)", "let x = -y",
        "let end = start + count  // Bounded: both are below 65,536.",
        "// Bounded: both are below 65,536.\nlet end = start + count",
        "// Bounded: each is below 65,536.\nlet end = start\n    + first * count",
        "let u = Printed(value)", "let t = .init(x)", "let n = Int(CURL_ERROR_SIZE)",
        "let kind = Int32(SOCK_STREAM.rawValue)", "let end = ContinuousClock.now + .seconds(Limits.stallSecondsMax)",
        "let seconds = self / .seconds(1)", "let bits = MAX_WBITS + 16",
        "let all = first + StatementArguments(rest)",
        "let s = date.timeIntervalSince1970 * 1000", "let ms = waited / .milliseconds(1)",
        "let end = ContinuousClock.now + lease", "let end = start + .seconds(clamping: budget)",
        "case .seconds(let seconds): seconds",
        "rows = head + items.map(\\.text)",
        "let n = field.flatMap({ Int($0) })", "let all = parts.compactMap { Int($0) }",
        "let t = reader.seconds(.drain, 0)", "let t = timeBase?.seconds(ticks)", "let t = MovieLoad(a).seconds(choice)",
    ])
    func `Operations that cannot trap`(text: String) {
        #expect(ForeignNumberRules.findings(in: TextFile("Sources/Group/A/B.swift", "\(text)\n")).isEmpty)
    }

    @Test func `A bound that is said above a declaration holds in all of it, and no further`() {
        let text = """
            /// Counts.
            // Bounded throughout: 16 bits each.
            @inline(__always)
            func a(
                _ b: Int, _ c: Int
            ) -> Int {
                if b > c {
                    return Int(b * c)
                }
                return b + c
            }

            func d(_ b: Int, _ c: Int) -> Int {
                b + c
            }
            """
        #expect(lines(ForeignNumberRules.findings(in: TextFile("Sources/Group/A/B.swift", text))) == [14])
    }

    @Test func `Foreign numbers are looked for in the files that read them, all of which exist`() throws {
        let line = "let end = range.last + 1\n"
        let paths = try Tree().paths
        for reader in ForeignNumberRules.readers {
            let path = reader.hasSuffix("/") ? "\(reader)B.swift" : reader
            #expect(!ForeignNumberRules.arithmetic(TextFile(path, line)).isEmpty)
            #expect(paths.contains { $0.hasPrefix(reader) }, "\(reader)")
        }
        #expect(ForeignNumberRules.arithmetic(TextFile("Sources/Group/AttachPrepPages/B.swift", line)).isEmpty)
    }

    @Test func `A bound that holds throughout ends with the block it stands in`() {
        let text = """
            func f() {
                // Bounded throughout: sides have 16 bits.
                let area = width * height

                for row in rows {
                    sum += row
                }
            }
            let end = start + count
            """
        #expect(lines(ForeignNumberRules.findings(in: TextFile("Sources/Group/A/B.swift", text))) == [9])
        let atTheTop = "// Bounded throughout: nobody knows why.\nlet end = start + count\n"
        #expect(lines(ForeignNumberRules.findings(in: TextFile("Sources/Group/A/B.swift", atTheTop))) == [2])
    }

    @Test func `Generated and large files`() {
        #expect(FileRules.generated("Package.resolved").count == 1)
        #expect(FileRules.generated("Benchmarks/.build/debug.yaml").count == 1)
        #expect(FileRules.generated("Package.swift").isEmpty)
        #expect(FileRules.size("a.mp4", bytes: 1 << 20).isEmpty)
        #expect(FileRules.size("a.mp4", bytes: (1 << 20) + 1).count == 1)
    }
}

/// The masking that the rules about code stand on.
@Suite struct MaskedSwiftTests {
    @Test(arguments: [
        ("a // b", "a     "), ("a /* b /* c */ d */ e", "a                   e"), ("f(\"x\")", "f(\" \")"),
        ("\"a\\\"b\" c", "\"    \" c"), ("#\"a\"b\"# c", "#\"   \"# c"),
        ("\"\\(g(\"}\"))\" d", "\"         \" d"),
    ])
    func `Comments and strings are blanked`(text: String, masked: String) {
        let lines = MaskedSwift(text).lines
        #expect(lines.count == 1)
        #expect(lines.first?.count == masked.count)
        #expect(lines.first?.filter { !"\" ".contains($0) } == masked.filter { !"\" ".contains($0) })
    }

    @Test func `Line numbers stay`() {
        let text = "let a = \"\"\"\n    } // x\n    \"\"\"\n/* \n } */\nb\n"
        #expect(MaskedSwift(text).lines.count == 7)
        #expect(MaskedSwift(text).lines[5] == "b")
        #expect(!MaskedSwift(text).lines.joined().contains("}"))
    }
}
