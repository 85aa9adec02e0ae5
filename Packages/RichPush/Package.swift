// swift-tools-version: 6.2
import PackageDescription

// The package for apps, from modules of attachprep. A release exports it as a repository (tools/export-richpush). Why
// there are two manifests: docs/explanation/dependencies.md.
//
// Warnings are not errors here: they would break an app's build with the next compiler, and the newer build system
// refuses to combine that with -suppress-warnings, which it passes to dependencies.
let settings: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "RichPush",
    // macOS for the tests of an app on a Mac.
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [
        // The service extension.
        .library(name: "RichPushExtension", targets: ["RichPushExtension"]),
        // The app's start.
        .library(name: "RichPushReceipts", targets: ["RichPushReceipts"]),
        // Reading and planning alone, for extensions that download themselves.
        .library(name: "RichPush", targets: ["RichPush"]),
    ],
    targets: [
        .target(name: "SafeArithmetic", swiftSettings: settings),
        .target(name: "MediaTypes", dependencies: ["SafeArithmetic"], swiftSettings: settings),
        .target(name: "RichPush", dependencies: ["MediaTypes", "SafeArithmetic"], swiftSettings: settings),
        .target(name: "RichPushReceipts", dependencies: ["RichPush"], swiftSettings: settings),
        // By CryptoKit.
        .target(name: "SealedMedia", dependencies: ["RichPush", "SafeArithmetic"], swiftSettings: settings),
        .target(
            name: "RichPushExtension", dependencies: ["RichPush", "RichPushReceipts", "SealedMedia"],
            resources: [.process("PrivacyInfo.xcprivacy")], swiftSettings: settings),
        .testTarget(name: "RichPushTests", dependencies: ["RichPush"]),
    ],
    swiftLanguageModes: [.v6]
)
