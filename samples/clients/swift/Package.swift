// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "prepare",
    platforms: [.macOS(.v13)],
    dependencies: [.package(url: "https://github.com/apple/swift-crypto", from: "4.0.0")],
    targets: [
        .executableTarget(name: "prepare", dependencies: [.product(name: "Crypto", package: "swift-crypto")])
    ]
)
