import Foundation
import RichPushExtension

/// The command-line options of the simulated device; see the top of SimulatedDevice.swift.
struct DeviceOptions: Sendable {
    struct UsageError: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    var folder: URL
    var isTemporary = true
    var isReading = false
    var isSeries = false
    var isAppStart = false
    var isSample = false
    var expireSeconds = 30.0
    var modification: String?
    var settings: RichPushSettings

    var receiptFolder: URL { folder.appendingPathComponent("receipts", isDirectory: true) }

    init(_ arguments: ArraySlice<String>) throws {
        var values: [String: String] = [:]
        var rest = arguments
        while let name = rest.popFirst() {
            switch name {
            case "--app-start": isAppStart = true
            case "--read": isReading = true
            case "--series": isSeries = true
            case "--sample": isSample = true
            default: values[name] = rest.popFirst()
            }
        }
        isTemporary = values["--folder"] == nil
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("device-\(UUID().uuidString)")
        folder = values["--folder"].map { URL(fileURLWithPath: $0, isDirectory: true) } ?? temporary
        expireSeconds = values["--expire-after"].flatMap(Double.init) ?? expireSeconds
        modification = values["--modify"]
        let info = try values["--info"].map { try JSONSerialization.jsonObject(with: Data($0.utf8)) }
        settings = RichPushSettings(info: info.map { ["RichPush": $0] } ?? [:])
        settings.mediaFolder = folder.appendingPathComponent("media", isDirectory: true)
        settings.receiptFolder = folder.appendingPathComponent("receipts", isDirectory: true)
        settings.bundleFolders = values["--bundle"].map { [URL(fileURLWithPath: $0, isDirectory: true)] } ?? []
        settings.languages = values["--languages"]?.split(separator: ",").map(String.init) ?? ["en"]
        if let seconds = values["--timeout"].flatMap(Double.init) { settings.timeoutSeconds = seconds }
    }
}
