import Foundation
import RichPushExtension
import RichPushReceipts
import UserNotifications

/// Many notifications in one process, four at a time: iOS reuses the process of an extension.
struct NotificationSeries: Sendable {
    private let options: DeviceOptions
    private let lines: [Data]
    private let handled: [Locked<Int>]
    private let screen: Screen

    /// - Parameters:
    ///   - lines: JSON objects, one a line: `payload`, and `expireAfter` in seconds, when iOS ends the extension.
    ///   - options: The settings, for all.
    init(_ lines: Data, _ options: DeviceOptions) {
        self.options = options
        self.lines = lines.split(separator: UInt8(ascii: "\n")).map { Data($0) }
        handled = self.lines.map { _ in Locked(0) }
        screen = Screen(store: options.folder.appendingPathComponent("store", isDirectory: true))
    }

    /// Runs all, and returns how often each handler was called, and the memory in KB and the open files on the way.
    func run() async throws -> [String: Any] {
        var memory = [Screen.memory]
        let filesAtStart = try Self.openFiles()
        let steps = 10
        for step in 0..<steps {
            let range = (lines.count * step / steps)..<(lines.count * (step + 1) / steps)
            await run(range)
            memory.append(Screen.memory)
        }
        return [
            "handled": handled.map(\.value), "memory": memory, "memoryPeak": Screen.memoryPeak,
            "openFiles": [filesAtStart, try Self.openFiles()],
        ]
    }

    private func run(_ range: Range<Int>) async {
        let next = Locked(range.lowerBound)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while true {
                        let index = next.change { next in
                            defer { next += 1 }
                            return next
                        }
                        guard index < range.upperBound else { return }
                        await notify(index)
                    }
                }
            }
        }
    }

    private func notify(_ index: Int) async {
        // The extension may be called from any thread, although its class is not Sendable.
        nonisolated(unsafe) let service = SimulatedService(options)
        let entry = (try? JSONSerialization.jsonObject(with: lines[index])) as? [String: Any] ?? [:]
        if let seconds = entry["expireAfter"] as? Double {
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { service.serviceExtensionTimeWillExpire() }
        }
        let request = SimulatedDevice.request(entry["payload"] as? [String: Any] ?? [:])
        service.didReceive(request) { [handled, screen] content in
            handled[index].change { $0 += 1 }
            screen.show(content)
        }
        await service.finished()
    }

    private static func openFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
