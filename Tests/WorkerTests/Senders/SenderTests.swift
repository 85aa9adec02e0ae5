import Foundation
import TestSupport
import Testing

/// The senders of `samples/senders`, from a campaign over the real service to a fake APNs. Issue 22, item 6.
@Suite(.timeLimit(.minutes(4))) struct SenderTests {
    private static let devices = (1...12).map { String(format: "%064x", $0) }

    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Runs a sender with a campaign; the names are those of the messages, with the sample whose URL is in each.
    private func send(
        _ messages: [(name: String, media: String?)], with sender: SampleSender, to apns: FakeAPNs,
        environment: [String: String?] = [:]
    ) async throws -> CommandResult {
        let service = try await bench.start()
        let lines = try messages.map { name, media in
            let member = try media.map { #","attach":"\#(try ServiceBench.url($0))""# } ?? ""
            return #"{"name":"\#(name)","payload":{"aps":{"alert":"A & B, é","mutable-content":1}\#(member)}}"#
        }
        let arguments = [
            try bench.folder.write(lines.joined(separator: "\n") + "\n", to: "campaign.jsonl"),
            try bench.folder.write(Self.devices.joined(separator: "\n") + "\n", to: "devices.txt"),
        ]
        let own: [String: String?] = ["ATTACHPREP_URL": service.url, "ATTACHPREP_TOKEN": nil, "APNS_CONCURRENCY": "4"]
        let command = try await sender.command(
            arguments, environment: own.merging(apns.environment) { $1 }.merging(environment) { $1 })
        let result = try await command.run()
        try await service.stop()
        return result
    }

    @Test(arguments: SampleSender.runnable)
    func `A sample sender sends the prepared media of a campaign to every device, over one connection`(
        sender: SampleSender
    ) async throws {
        let apns = try await FakeAPNs.start()
        let result = try await send([("image", "grid.heic"), ("gone", "nothing.jpg")], with: sender, to: apns)
        let arrivals = try await apns.stop()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.lines == ["image", "gone"].map { "\($0): sent 12, removed 0, failed 0" })
        #expect(result.errorText.contains("gone: payload.media_removed: "), "\(result.errorText)")

        let notifications = ["image", "gone"].flatMap { name in Self.devices.map { "\($0) \(name)" } }
        #expect(arrivals.map(\.notification).sorted() == notifications.sorted())
        #expect(arrivals.allSatisfy { $0.status == 200 && $0.violation == nil })
        #expect(Set(arrivals.map(\.connection)) == [1])
        #expect(Set(arrivals.map { $0.header("authorization") }).count == 1)
        #expect(Set(arrivals.map { $0.header("apns-id") }).count == 24)
        #expect(Set(arrivals.compactMap(\.inProgress)).isSubset(of: [1, 2, 3, 4]))
        #expect(arrivals.contains { $0.inProgress == 4 })
        let now = Date().timeIntervalSince1970
        for arrival in arrivals {
            #expect(arrival.header("apns-topic") == "com.example.app")
            #expect(arrival.header("apns-push-type") == "alert" && arrival.header("apns-priority") == "10")
            let expiration = try #require(arrival.header("apns-expiration").flatMap { Double($0) })
            #expect(abs(expiration - now - 86_400) < 300)
            let object = try arrival.object()
            #expect((object["aps"] as? [String: Any])?["alert"] as? String == "A & B, é")
            let media = object["attach"] as? String
            let isPrepared = media.map { $0.wholeMatch(of: /.*\/attachment-[0-9a-f]{8}\.jpg/) != nil }
            #expect(isPrepared ?? (arrival.header("apns-collapse-id") == "gone"), "\(media ?? "")")
            // Without media, it has the receipt of the campaign.
            let neutral = try #require(object["attachprep"] as? [String: Any])
            #expect(neutral["receipt"] != nil && ((neutral["attachments"] as? [Any]) ?? []).isEmpty == (media == nil))
            // Neither "/", "&" nor "é" is escaped.
            #expect(arrival.payload?.contains("A & B, é") == true && arrival.payload?.contains("\\") == false)
        }
    }

    @Test(arguments: SampleSender.runnable)
    func `A sample sender repeats what may succeed, and drops devices that are gone`(sender: SampleSender)
        async throws
    {
        let devices = Self.devices
        let unavailable = #"{"status": 503, "reason": "ServiceUnavailable"}"#
        let apns = try await FakeAPNs.start(
            answers: """
                {"\(devices[1])": [{"status": 410, "reason": "Unregistered", "timestamp": 1791234567890}],
                "\(devices[2])": [{"status": 429, "reason": "TooManyRequests", "retry-after": "0"}, \(unavailable)],
                "\(devices[3])": [\(Array(repeating: unavailable, count: 5).joined(separator: ", "))],
                "\(devices[4])": [{"end": "reset"}],
                "\(devices[5])": [{"status": 400, "reason": "BadDeviceToken"}],
                "\(devices[6])": [{"status": 413, "reason": "PayloadTooLarge"}]}
                """)
        let result = try await send([("one", nil), ("two", nil)], with: sender, to: apns)
        let arrivals = try await apns.stop()
        #expect(result.exitCode == 1, "\(result.errorText)")
        #expect(
            Set(result.lines) == [
                "remove \(devices[1]) Unregistered", "remove \(devices[5]) BadDeviceToken",
                "one: sent 8, removed 2, failed 2", "two: sent 10, removed 0, failed 0",
            ])
        #expect(result.errorText.contains("one: \(devices[3]): 503 ServiceUnavailable\n"), "\(result.errorText)")
        #expect(result.errorText.contains("one: \(devices[6]): 413 PayloadTooLarge\n"), "\(result.errorText)")
        let tries = Dictionary(grouping: arrivals, by: \.notification)
        #expect(devices[0...6].map { tries["\($0) one"]?.count } == [1, 1, 3, 5, 2, 1, 1])
        #expect(tries["\(devices[1]) two"] == nil && tries["\(devices[5]) two"] == nil)
        // What is repeated keeps its ID.
        #expect(tries.values.allSatisfy { Set($0.map { $0.header("apns-id") }).count == 1 })
    }

    @Test(arguments: SampleSender.runnable)
    func `A sample sender connects again when APNs ends the connection`(sender: SampleSender) async throws {
        let apns = try await FakeAPNs.start(
            answers: """
                {"\(Self.devices[3])": [{"end": "goaway"}], "\(Self.devices[9])": [{"end": "drop"}]}
                """)
        let result = try await send([("one", nil), ("two", nil)], with: sender, to: apns)
        let arrivals = try await apns.stop()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.lines == ["one", "two"].map { "\($0): sent 12, removed 0, failed 0" })
        #expect(Set(arrivals.filter { $0.status == 200 }.map(\.notification)).count == 24)
        // Three, and more by Go, which opens another one while APNs allows one request on the first.
        #expect((2...8).contains(Set(arrivals.map(\.connection)).count))
    }

    @Test(arguments: SampleSender.runnable)
    func `A sample sender signs one new provider token when the old one has expired`(sender: SampleSender)
        async throws
    {
        let expired = #"{"status": 403, "reason": "ExpiredProviderToken"}"#
        let apns = try await FakeAPNs.start(answers: #"{"\#(Self.devices[4])": [\#(expired)]}"#)
        let result = try await send([("one", nil)], with: sender, to: apns)
        let arrivals = try await apns.stop()
        #expect(result.exitCode == 0 && result.lines == ["one: sent 12, removed 0, failed 0"], "\(result.errorText)")
        #expect(Set(arrivals.map { $0.header("authorization") }).count == 2)
    }

    @Test(arguments: SampleSender.runnable)
    func `A sample sender stops at the first notification when its key is wrong`(sender: SampleSender) async throws {
        let apns = try await FakeAPNs.start()
        let result = try await send([("one", nil)], with: sender, to: apns, environment: ["APNS_KEY_ID": "ANOTHER123"])
        let arrivals = try await apns.stop()
        #expect(result.exitCode == 1 && result.errorText.contains("APNs answered 403 InvalidProviderToken"))
        #expect(arrivals.count == 1)
    }

    @Test(
        .enabled(
            if: SampleSender.isInstalled("go"),
            "Go is not installed: Debian's takes 450 MB, so make deps-test leaves it out and send.go is not checked"))
    func `The Go sender passes go vet and is formatted`() async throws {
        let path = SourceTree.path("samples/senders/send.go")
        let vet = try await RunCommand("go", ["vet", path], timeoutSeconds: 200).run()
        #expect(vet.exitCode == 0, "\(vet.errorText)")
        let format = try await RunCommand("gofmt", ["-l", path]).run()
        #expect(format.exitCode == 0 && format.text == "", "\(format.text)")
    }

    /// APNSwift is not among the packages that a build of attachprep fetches.
    @Test func `The Swift sender is valid syntax`() async throws {
        let folder = SourceTree.path("samples/senders/swift/Sources/send")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
        #expect(files.count == 3)
        let result = try await RunCommand("swiftc", ["-frontend", "-parse"] + files).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
    }
}
