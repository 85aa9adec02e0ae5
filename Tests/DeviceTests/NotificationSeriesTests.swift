import Foundation
import RichPush
import TestSupport
import Testing

/// Many notifications in one process, with downloads that are slow, cut, oversized, sealed, or ended by iOS at any
/// point.
struct NotificationSeriesTests {
    private static let count = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] == nil ? 120 : 1_000

    private let server: LoopbackServer
    private let device: SimulatedDevice
    private let secret = SealedSecret.make()

    init() throws {
        device = try SimulatedDevice.shared
        server = try LoopbackServer()
        server.serve("/receipts", .status(202))
        server.serve("/small.jpg", .body(DeviceFile.thumbnail, type: "image/jpeg"))
        server.serve("/good.jpg", .body(DeviceFile.image, type: "image/jpeg"))
        server.serve("/cut.jpg", .start(of: DeviceFile.image, bytes: 10_000).then(.close))
        server.serve("/slow.jpg", .start(of: DeviceFile.image, bytes: 10_000).then(.hang))
        server.serve("/long.jpg", .start(of: DeviceFile.image, bytes: 10_000, declaring: 20_001).then(.hang))
        let sealed = try DeviceFile.sealed(DeviceFile.image, with: secret)
        server.serve("/sealed.jpg", .body(sealed, type: "application/octet-stream"))
        server.serve("/broken.jpg", .body(sealed.dropLast(100) + Data(count: 100), type: "application/octet-stream"))
        server.serve("/page.jpg", .body(DeviceFile.image, type: "text/html"))
        server.serve("/wifi.jpg", Self.wifi(bytes: 2_000_000, declaring: 2_000_000))
        server.serve("/oversized.jpg", Self.wifi(bytes: 11_000_000, declaring: nil))
    }

    /// A body at 5 MB/s, in pieces of 50 KB.
    private static func wifi(bytes: Int, declaring length: Int?) -> LoopbackResponse {
        let length = length.map { ["Content-Length: \($0)"] } ?? []
        let head = LoopbackResponse.raw((["HTTP/1.1 200 OK"] + length + ["", ""]).joined(separator: "\r\n"))
        let pieces = (0..<(bytes / 50_000)).flatMap { _ -> [LoopbackResponse.Step] in
            [.send(Data(count: 49_999)), .drip(Data(count: 1), pauseMilliseconds: 10)]
        }
        return LoopbackResponse(head.steps + pieces + (length.isEmpty ? [.close] : []))
    }

    /// A line of the input; the same for a number in every run.
    private func entry(_ number: Int) -> String {
        let names = [
            "good", "cut", "slow", "long", "sealed", "page", "wifi", "broken", "oversized", "missing", "good",
        ]
        let name = names[number % names.count]
        var attachment = DevicePayload.attachment(
            server.url("/\(name).jpg"), bytes: name == "long" ? 20_000 : nil,
            thumbnail: number % 2 == 0 ? server.url("/small.jpg") : nil)
        if name == "sealed" || name == "broken" {
            let seal = #"{"secret": "\#(secret.text)", "kind": "image", "bytes": \#(DeviceFile.image.count)}"#
            attachment = #"{"id": "0", "url": "\#(server.url("/\(name).jpg"))", "sealed": \#(seal)}"#
        }
        let receipt = #"{"url": "\#(server.url("/receipts"))", "token": "\#(number)"}"#
        let payload = DevicePayload(attachments: [attachment], receipt: receipt).text
        // From at once, before the download began, to after the timeout.
        let expiry = Double(number * 7 % 100) * Double(number * 7 % 100) / 8_000
        let line = #"{"expireAfter": \#(expiry), "payload": \#(payload)}"#
        return String(line.map { $0 == "\n" ? " " : $0 })
    }

    @Test(.timeLimit(.minutes(10)))
    func `Each content handler is called once, files are removed, and memory does not grow`() async throws {
        let folder = try TemporaryFolder()
        let lines = (0..<Self.count).map(entry).joined(separator: "\n")
        let command = try device.start(
            lines, in: folder, ["--series", "--timeout", "1", "--modify", "title"], timeoutSeconds: 500)
        let result = try await command.result()
        let report = try JSONDecoder().decode(SeriesReport.self, from: Data(result.output))
        #expect(report.handled == Array(repeating: 1, count: Self.count))
        #expect(report.left.isEmpty)
        // The sockets of URLSession itself stay open for a while.
        #expect(report.openFiles[1] - report.openFiles[0] < 20)
        let idle = try #require(report.memory.first)
        let first = report.memory[1]
        let last = try #require(report.memory.last)
        // In KB. URLSession alone takes about 9,000 for the smallest file.
        #expect(report.memoryPeak - idle < 24_000)
        #expect(last - first < 4_000)
    }
}

/// What the simulated device prints for a series.
private struct SeriesReport: Decodable {
    let handled: [Int]
    let memory: [Int]
    let memoryPeak: Int
    let openFiles: [Int]
    let left: [String]
}
