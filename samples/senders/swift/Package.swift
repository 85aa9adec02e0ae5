// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "send",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(url: "https://github.com/swift-server-community/APNSwift.git", from: "6.4.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", "3.0.0"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.42.0"),
    ],
    targets: [
        .executableTarget(
            name: "send",
            dependencies: [
                .product(name: "APNS", package: "APNSwift"),
                .product(name: "APNSCore", package: "APNSwift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        .executableTarget(name: "fcm"),
    ]
)
