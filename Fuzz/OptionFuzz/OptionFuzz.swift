import FuzzSupport
import MediaEngine
import MediaTypes

@testable import AttachPrep

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
        for row in AttachmentRequest.optionRows {
            var changed = AttachmentRequest(source: "a")
            guard (try? row.parse(&changed, text)) == true else { continue }
            _ = try? row.parse(&request, text)
            guard (try? row.validate(changed)) != nil, let written = row.text(changed) else { continue }
            var again = AttachmentRequest(source: "a")
            Invariant.hold((try? row.parse(&again, written)) == true, "an option written again is parsed: \(written)")
            Invariant.hold(again == changed, "an option written again reads the same: \(written)")
        }
        for (name, value) in request.headers { checkHeader(name: name, value: value) }
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

    private static func checkHeader(name: String, value: String) {
        guard let headers = try? RequestHeaders([(name, value)]) else { return }
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
