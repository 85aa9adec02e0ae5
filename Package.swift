// swift-tools-version: 6.2
import PackageDescription

/// Every target is held to the same rules; see CONTRIBUTING.md.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The tests to build while one module is worked on: `ATTACHPREP_TESTS=CurlTests,TidyTests` (see CONTRIBUTING.md).
let chosenTests = Context.environment["ATTACHPREP_TESTS"]?.split(separator: ",").map(String.init)

/// Whether only the programs are built, as `make demo` needs them: one run of SwiftPM then builds both.
let buildsOnlyPrograms = Context.environment["ATTACHPREP_PROGRAMS"] != nil

/// Whether this is a build for `make fuzz`: its flags and its `main` must not reach any other build.
let isFuzzing = Context.environment["ATTACHPREP_FUZZ"] == "1"

/// Whether the fuzz targets are compiled for FuzzTests, which needs `-enable-testing`: a release build leaves them out.
let testsFuzzSeeds =
    Context.environment["ATTACHPREP_FUZZ"] == "seeds" && !buildsOnlyPrograms
    && chosenTests?.contains("FuzzTests") != false

/// Coverage and address checks in our own code, and its internals within reach of the targets.
let fuzzed: [SwiftSetting] =
    isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])] : []

/// Modules whose loops go over every pixel: without optimization a test of theirs takes minutes.
let optimized: [SwiftSetting] = isFuzzing ? [] : [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Tests read fixtures and talk to sockets; spelling `unsafe` there would hide the specification.
let testing: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

/// The folders of `Sources` and their targets, in the order of the arrows: see ARCHITECTURE.md.
let folders: [(name: String, targets: [String])] = [
    ("Core", ["SafeArithmetic", "MediaTypes", "AttachPrepModel"]),
    ("Payloads", ["RichPush", "SealedMedia", "PushPayload"]),
    (
        "Libraries",
        [
            "CMedia", "CHost", "CBuild", "Linux", "MediaLibraries", "Zlib", "Curl",
        ]
    ),
    ("Media", ["MediaEngine", "MediaProcessing", "AttachPrepMedia"]),
    ("Preparation", ["AttachPrep"]),
    ("Jobs", ["AttachPrepJobs", "SQLStore", "SQLiteDatabase", "PostgresDatabase"]),
    ("Service", ["CEmbedded", "AttachPrepPages", "AttachPrepService", "OTLP"]),
    ("Command", ["AttachPrepCommand"]),
]

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = [],
    exclude: [String] = []
) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict + fuzzed + settings)
}

func specification(
    _ name: String, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = []
) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["TestSupport"], swiftSettings: testing + settings)
}

let package = Package(
    name: "attachprep",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "RichPush", targets: ["RichPush"]),
        .library(name: "AttachPrepModel", targets: ["AttachPrepModel"]),
        .library(name: "PushPayload", targets: ["PushPayload"]),
        .library(name: "MediaProcessing", targets: ["MediaProcessing"]),
        .library(name: "AttachPrep", targets: ["AttachPrep"]),
        .library(name: "AttachPrepJobs", targets: ["AttachPrepJobs"]),
        .library(name: "SQLStore", targets: ["SQLStore"]),
        .library(name: "SQLiteDatabase", targets: ["SQLiteDatabase"]),
        .library(name: "PostgresDatabase", targets: ["PostgresDatabase"]),
        .library(name: "AttachPrepService", targets: ["AttachPrepService"]),
        .executable(name: "attachprep", targets: ["AttachPrepCommand"]),
        .executable(name: "attachprep-media", targets: ["AttachPrepMedia"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // Without its traits it needs neither all of Foundation nor a second way to be configured.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The C libraries, a side each: a module map with one module and one page of shims for each library.
        // gobject-2.0 gives glib's include path; the libraries are linked by the module maps: see
        // docs/explanation/dependencies.md.
        .systemLibrary(
            name: "CMedia", pkgConfig: "gobject-2.0",
            providers: [
                .apt([
                    "libvips-dev", "libavformat-dev", "libjpeg62-turbo-dev", "libspng-dev", "libwebp-dev",
                    "libmagic-dev",
                    "libdeflate-dev",
                ])
            ]),
        .systemLibrary(
            name: "CHost", providers: [.apt(["libcurl4-openssl-dev", "libpq-dev", "zlib1g-dev"])]),
        .target(
            name: "CBuild",
            cSettings: Context.environment["ATTACHPREP_COMMIT"].map { [.define("ATTACHPREP_COMMIT", to: $0)] } ?? []),

        // The files of the pages and the OpenAPI document, compiled in, so that a program is still one file.
        .target(name: "CEmbedded"),

        // Their owners: the only importers of C.
        module("MediaLibraries", ["CMedia", "CHost", "Linux", "SafeArithmetic"], optimized),
        module("Zlib", ["CHost", "SafeArithmetic"]),
        module("Curl", ["CHost", "Linux", "SafeArithmetic"]),
        module("Linux", ["CHost", "SafeArithmetic"]),

        // The domain.
        module("SafeArithmetic"),
        module("MediaTypes", ["SafeArithmetic"]),
        module("RichPush", ["MediaTypes", "SafeArithmetic"]),
        // On Apple's systems by CryptoKit, here by swift-crypto.
        module(
            "SealedMedia",
            ["RichPush", "SafeArithmetic", .product(name: "Crypto", package: "swift-crypto")]),
        module("AttachPrepModel", ["MediaTypes", "SafeArithmetic"]),
        module("PushPayload", ["RichPush", "AttachPrepModel", "SafeArithmetic"]),
        module("MediaEngine", ["AttachPrepModel", "SafeArithmetic"]),
        module(
            "MediaProcessing",
            ["MediaEngine", "MediaLibraries", "Linux", "SafeArithmetic"],
            optimized),
        .executableTarget(name: "AttachPrepMedia", dependencies: ["MediaProcessing"], swiftSettings: strict),
        module(
            "AttachPrep",
            [
                "MediaEngine", "PushPayload", "SealedMedia", "Curl", "Zlib", "Linux", "SafeArithmetic",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        module(
            "AttachPrepJobs",
            [
                "AttachPrep", "Linux", "SafeArithmetic",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        // Traces for a collector.
        module(
            "OTLP",
            [
                "AttachPrep", "SafeArithmetic",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        // The job store, and the two databases that hold it.
        module(
            "SQLStore",
            [
                "AttachPrepJobs", "AttachPrep", "Linux", "SafeArithmetic",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        module(
            "PostgresDatabase",
            [
                "CHost", "SQLStore", "AttachPrep", "AttachPrepModel", "Linux", "SafeArithmetic",
                .product(name: "Logging", package: "swift-log"),
            ]),
        module(
            "SQLiteDatabase",
            [
                "SQLStore", "AttachPrepJobs", "AttachPrep", "SafeArithmetic",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // What people look at.
        module(
            "AttachPrepPages",
            ["AttachPrepModel", "CEmbedded", .product(name: "Crypto", package: "swift-crypto")],
            exclude: ["Assets"]),
        module(
            "AttachPrepService",
            [
                "AttachPrepJobs", "SQLStore", "SQLiteDatabase", "PostgresDatabase", "AttachPrepPages", "OTLP",
                "Linux",
                "SafeArithmetic",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["OpenAPI"]),
        .executableTarget(
            name: "AttachPrepCommand",
            dependencies: [
                "AttachPrepPages", "AttachPrepService", "SQLStore", "SQLiteDatabase", "PostgresDatabase",
                "SafeArithmetic",
                "CBuild",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict + fuzzed),

        // Measured by `make bench`.
        .executableTarget(
            name: "RoundTrip", dependencies: ["AttachPrep", "MediaEngine", "MediaProcessing"],
            path: "Benchmarks/RoundTrip", swiftSettings: strict),
        .executableTarget(
            name: "QueueRate",
            dependencies: [
                "AttachPrepJobs", "SQLStore", "SQLiteDatabase", "PostgresDatabase", "AttachPrep",
            ],
            path: "Benchmarks/QueueRate", swiftSettings: strict),

        // Phones on slow networks, for the benchmarks.
        .target(
            name: "Shaping",
            dependencies: [
                "AttachPrepModel",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Benchmarks/Shaping", swiftSettings: strict),
        .executableTarget(
            name: "ShapingServer",
            dependencies: [
                "Shaping",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Benchmarks/ShapingServer", swiftSettings: strict),

        // What callers of the service can copy, as a package of its own: here for its test.
        .executableTarget(
            name: "SampleClient", dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            path: "samples/clients/swift/Sources/prepare", swiftSettings: testing),

        // The specification.
        // attachprep-media that tries to escape: each file names what to try in the sandbox.
        .executableTarget(
            name: "HostileMedia", dependencies: ["MediaProcessing", "MediaEngine", "Linux"],
            path: "Tests/HostileMedia", swiftSettings: strict),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: testing + optimized),
        specification("SafeArithmeticTests", ["SafeArithmetic"]),
        specification("RichPushTests", ["RichPush", "AttachPrepModel", "PushPayload", "MediaEngine"]),
        specification(
            "SealedMediaTests", ["SealedMedia", "AttachPrep", .product(name: "Crypto", package: "swift-crypto")]),
        // The extension for apps, which tools/simulated-device compiles for them.
        specification("DeviceTests", ["RichPush", "SealedMedia", "AttachPrep"]),
        specification("MediaEngineTests", ["MediaEngine", "Linux"]),
        specification("MediaProcessingTests", ["MediaProcessing"]),
        specification("PreparationTests", ["AttachPrep", "MediaProcessing"]),
        specification("MediaLibrariesTests", ["MediaLibraries"]),
        specification("CurlTests", ["Curl"]),
        specification(
            "PostgresDatabaseTests",
            [
                "PostgresDatabase", "SQLStore", "AttachPrepModel", .product(name: "Logging", package: "swift-log"),
            ]),
        specification("AttachPrepTests", ["AttachPrep", "HostileMedia"]),
        specification(
            "OTLPTests",
            [
                "OTLP", "AttachPrep", "AttachPrepService",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        specification(
            "AttachPrepJobsTests",
            [
                "AttachPrepJobs", "SQLStore", "SQLiteDatabase", "PostgresDatabase", "MediaProcessing",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]),
        specification(
            "AttachPrepServiceTests",
            [
                "AttachPrepPages", "AttachPrepService",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        specification(
            "WorkerTests",
            [
                "AttachPrepCommand", "AttachPrepJobs", "AttachPrepService", "SQLStore", "SQLiteDatabase",
                "AttachPrepMedia",
                "RichPush",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        specification("CommandTests", ["AttachPrepCommand", "AttachPrepMedia"]),
        specification(
            "ShapingTests",
            [
                "Shaping", "ShapingServer", "RichPush", "AttachPrepCommand", "AttachPrepMedia",
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        // In a real browser.
        specification("PageTests", ["AttachPrepCommand", "AttachPrepMedia", "AttachPrepPages", "RichPush"]),
        specification("TestSupportTests", []),
        // Reads all sources with regular expressions.
        specification("TidyTests", [], optimized),
    ]
)

for target in package.targets {
    guard let folder = folders.first(where: { $0.targets.contains(target.name) }) else { continue }
    target.path = "Sources/\(folder.name)/\(target.name)"
}

/// The fuzz targets and what they depend on: see Fuzz/README.md. `make fuzz` links each with libFuzzer; `make test`
/// compiles them and runs their seeds.
let fuzzTargets: [(name: String, dependencies: [Target.Dependency])] = [
    ("RequestFuzz", ["AttachPrep", "AttachPrepCommand"]),
    ("OptionFuzz", ["AttachPrep"]),
    ("ManifestFuzz", ["AttachPrep", "AttachPrepCommand"]),
    ("HeaderFuzz", ["AttachPrep"]),
    ("AddressFuzz", ["AttachPrep", "Curl"]),
    ("MessageFuzz", ["AttachPrep", "MediaEngine"]),
    ("PayloadFuzz", ["RichPush", "PushPayload"]),
    ("PublishFuzz", ["AttachPrep"]),
    ("MovieParserFuzz", ["MediaLibraries", "ParserSupport"]),
    ("AudioParserFuzz", ["ParserSupport"]),
    ("ImageParserFuzz", ["ParserSupport", "MediaLibraries"]),
    ("AnimationParserFuzz", ["ParserSupport"]),
    ("SignatureFuzz", ["ParserSupport"]),
    ("GIFEncoderFuzz", ["ParserSupport"]),
    ("OriginFuzz", ["AttachPrep", "PeerSupport"]),
    (
        "EndpointFuzz",
        [
            "AttachPrep", "AttachPrepJobs", "Curl", "PeerSupport",
            .product(name: "Logging", package: "swift-log"), .product(name: "Metrics", package: "swift-metrics"),
        ]
    ),
    ("PostgresFuzz", ["PostgresDatabase", "SQLStore"]),
    ("RowFuzz", ["AttachPrep", "AttachPrepJobs", "AttachPrepModel", "SQLStore"]),
    ("MediaProcessFuzz", ["AttachPrep", "Linux", "MediaEngine"]),
]

let fuzzSupport: [Target.Dependency] = ["FuzzSupport"]
let parsedAsLibrary: [SwiftSetting] = [.unsafeFlags(["-parse-as-library"])]
let fuzzSettings: [SwiftSetting] = testing + fuzzed + (isFuzzing ? [.define("FUZZING")] : [])
if isFuzzing || testsFuzzSeeds {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Fuzz/CLibFuzzer"),
        .target(
            name: "FuzzSupport", dependencies: ["CLibFuzzer"], path: "Fuzz/FuzzSupport", swiftSettings: fuzzSettings),
        .target(
            name: "PeerSupport", dependencies: ["FuzzSupport"], path: "Fuzz/PeerSupport", swiftSettings: fuzzSettings),
        .target(
            name: "ParserSupport", dependencies: ["FuzzSupport", "MediaProcessing"], path: "Fuzz/ParserSupport",
            swiftSettings: fuzzSettings),
    ]
}

/// Renames the entry point of a module, so that it can be linked into another program.
func entryPoint(_ name: String) -> SwiftSetting {
    .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", name])
}

if isFuzzing {
    // gold, which is SwiftPM's linker here, breaks over libFuzzer's symbols.
    let linking: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]
    // A program cannot be part of another one; without its own `main` it is a library.
    package.products.removeAll { $0.name == "attachprep" }
    package.targets = package.targets.map { target in
        guard target.name == "AttachPrepCommand" else { return target }
        return .target(
            name: target.name, dependencies: target.dependencies, path: target.path,
            swiftSettings: strict + fuzzed + [entryPoint("attachprep_main")])
    }
    package.targets += fuzzTargets.map { target in
        let path = "Fuzz/\(target.name)"
        return .executableTarget(
            name: target.name, dependencies: target.dependencies + fuzzSupport, path: path,
            swiftSettings: fuzzSettings + parsedAsLibrary, linkerSettings: linking)
    }
} else if testsFuzzSeeds {
    package.targets += fuzzTargets.map { target in
        .target(
            name: target.name, dependencies: target.dependencies + fuzzSupport, path: "Fuzz/\(target.name)",
            swiftSettings: fuzzSettings + parsedAsLibrary + [entryPoint("\(target.name)_main")])
    }
    package.targets.append(
        specification("FuzzTests", fuzzSupport + fuzzTargets.map { .target(name: $0.name) }))
}

if let chosenTests {
    package.targets.removeAll { $0.type == .test && !chosenTests.contains($0.name) }
    // The house rules read the sources: nothing else is built for them, and no package is fetched.
    if chosenTests == ["TidyTests"] {
        package.targets.removeAll { !["TidyTests", "TestSupport"].contains($0.name) }
        package.products = []
        package.dependencies = []
    }
}

if buildsOnlyPrograms {
    let others: Set = [
        "RoundTrip", "QueueRate", "Shaping", "ShapingServer", "SampleClient", "HostileMedia", "TestSupport",
    ]
    package.targets.removeAll { $0.type == .test || others.contains($0.name) }
}

/// Gives each target the modules that its modules use, to the last.
///
/// SwiftPM compiles a target again only after a change of a module that it declares. A target that does not declare
/// the module of a struct that it holds, even inside a type of another module, would keep the old layout of that struct
/// and crash. What a target may import is in `Tests/TidyTests/Modules.swift`.
func declareUsedModules(of package: Package) {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    func name(_ dependency: Target.Dependency) -> String? {
        switch dependency {
        case .targetItem(let name, _), .byNameItem(let name, _): name
        default: nil
        }
    }
    for target in package.targets {
        var (names, index) = (target.dependencies.compactMap(name), 0)
        while index < names.count {
            let used = targets[names[index]]?.dependencies.compactMap(name) ?? []
            names += used.filter { !names.contains($0) }
            index += 1
        }
        let products = target.dependencies.filter { name($0) == nil }
        target.dependencies = names.map { .target(name: $0) } + products
    }
}

declareUsedModules(of: package)
