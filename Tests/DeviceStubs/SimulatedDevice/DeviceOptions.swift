import Foundation
import RichPush

/// The command line; see the top of SimulatedDevice.swift.
struct DeviceOptions {
    struct Wrong: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    var folder: URL
    var isTemporary = true
    var isReading = false
    var expireSeconds = 30.0
    var settings: DeviceSettings

    init(_ words: ArraySlice<String>) {
        var values: [String: String] = [:]
        var rest = words
        while let name = rest.popFirst() {
            if name == "--read" { isReading = true } else { values[name] = rest.popFirst() }
        }
        isTemporary = values["--folder"] == nil
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("device-\(UUID().uuidString)")
        folder = values["--folder"].map { URL(fileURLWithPath: $0, isDirectory: true) } ?? temporary
        expireSeconds = values["--expire-after"].flatMap(Double.init) ?? expireSeconds
        settings = DeviceSettings(
            mediaFolder: folder.appendingPathComponent("media", isDirectory: true),
            receiptFolder: folder.appendingPathComponent("receipts", isDirectory: true),
            bundleFolders: values["--bundle"].map { [URL(fileURLWithPath: $0, isDirectory: true)] } ?? [])
        if let seconds = values["--deadline"].flatMap(Double.init) {
            settings.deadline = FetchDeadline(seconds: seconds)
        }
    }
}
