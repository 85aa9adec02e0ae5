import FuzzSupport
import MediaEngine
import MediaTypes

@testable import AttachPrep
@testable import AttachPrepCommand

/// Fuzzes the parsing of option values.
@main enum OptionFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            check(input.text())
        }
    }

    private static func check(_ text: String) {
        var request = AttachmentRequest(source: "a")
        if let crop = CropArgument(argument: text) { request.options.crop = try? crop.choice() }
        if let time = ThumbnailTimeArgument(argument: text) { request.options.thumbnailTime = time.choice }
        if let network = NetworkArgument(argument: text) {
            Invariant.hold(
                NetworkArgument(argument: network.defaultValueDescription)?.network == network.network,
                "a network written again reads the same")
            request.network = network.network
        }
        if let size = SizeArgument(argument: text) {
            Invariant.hold(
                SizeArgument(argument: size.defaultValueDescription)?.width == size.width,
                "a size written again reads the same")
            (request.options.thumbnailWidth, request.options.thumbnailHeight) = (size.width, size.height)
        }
        if let duration = DurationArgument(argument: text) {
            _ = duration.defaultValueDescription
            request.budgetSeconds = duration.seconds
            request.deviceBudgetSeconds = duration.seconds
        }
        if let header = HeaderArgument(argument: text) {
            request.headers[header.name] = header.value
            checkHeader(header)
        }
        if let targets = try? RequestTargets(text: text) { request.targets = targets }
        if let profiles = try? TargetTable.profiles([text]) {
            Invariant.hold(profiles.allSatisfy { $0.bytesAim <= $0.bytesMax }, "an aim is within its limit")
            try? request.targets.resolve(profiles: profiles)
        }
        if (try? request.validate()) != nil { plan(request) }
        _ = try? ProxyServer(text)
        if let overrides = try? ResolveOverrides([text]) {
            Invariant.hold((overrides.addresses(of: "a", port: 80) ?? [.v4(0)]).isEmpty == false, "never empty")
        }
        _ = try? SourceLocation(text, allowsFiles: true)
    }

    private static func checkHeader(_ header: HeaderArgument) {
        guard let headers = try? RequestHeaders([(header.name, header.value)]) else { return }
        for line in headers.lines(isFirstOrigin: true, authorization: nil, resuming: nil) {
            Invariant.hold(!line.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 }, "a header is one line")
        }
    }

    private static func plan(_ request: AttachmentRequest) {
        var media = InspectedMedia(format: .mpeg4)
        media.duration = 12
        media.video = VideoStream(codec: "h264", codecTag: "hvc1", storedWidth: 1920, storedHeight: 1080)
        let plan = PreparationPlan(media: media, bytes: 90_000_000, request: request)
        if case .movie(let time) = plan.thumbnailTime { Invariant.hold(time.value >= 0, "a time is not negative") }
    }
}
