import Foundation
import FuzzSupport
import MediaEngine
import MediaTypes

@testable import AttachPrep
@testable import AttachPrepCommand
@testable import AttachPrepModel

/// Fuzzes requests in JSON, and batch lists.
@main enum RequestFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            if input.byte() % 4 == 1 {
                checkList(input.text())
            } else {
                try checkRequest(input.rest())
            }
        }
    }

    private static func checkRequest(_ json: [UInt8]) throws {
        guard let request = parsed({ try AttachmentRequest(json: json, defaults: AttachmentRequest(source: "")) })
        else {
            return
        }
        let valid = parsed { try request.validate() } != nil
        let written = try JSONEncoder().encode(request)
        let again = try AttachmentRequest(json: [UInt8](written), defaults: AttachmentRequest(source: ""))
        Invariant.hold(again == request, "a request written again reads the same")
        let identity = try RequestIdentity(request, localState: nil)
        Invariant.hold(try RequestIdentity(again, localState: nil) == identity, "and is the same request")
        if valid { checkValid(request, identity) }
    }

    private static func checkValid(_ request: AttachmentRequest, _ identity: RequestIdentity) {
        Invariant.hold(AttachmentRequest.isValid(id: identity.id), "an id is a name for a folder: \(identity.id)")
        Invariant.hold(!identity.id.contains("/") && identity.id.first != ".", "an id does not leave the output folder")
        for kind in [MediaKind.image, .audio, .movie] {
            Invariant.hold(request.bytesMax(for: kind) >= 1, "something may be delivered")
            Invariant.hold(request.bytesMax(for: kind) <= Limits.attachmentBytesMax(kind), "nothing over Apple's limit")
        }
        Invariant.hold(
            request.headers.allSatisfy { !($0 + $1).utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } },
            "a header is one line")
        if case .part(let rect) = request.options.crop {
            Invariant.hold(rect.width > 0 && rect.height > 0 && rect.x >= 0 && rect.y >= 0, "a crop is not empty")
            let pixels = rect.pixels(width: 7, height: 5)
            Invariant.hold(
                pixels.left >= 0 && pixels.top >= 0 && pixels.left + pixels.width <= 7
                    && pixels.top + pixels.height <= 5,
                "a crop is inside the image")
            for orientation in Orientation.allCases {
                Invariant.hold((try? orientation.storedRect(ofUpright: rect)) != nil, "a crop can be rotated")
            }
        }
        // Planning must not crash for any request.
        var media = InspectedMedia(format: .mpeg4)
        media.duration = 12
        media.video = VideoStream(codec: "h264", codecTag: "avc1", storedWidth: 1920, storedHeight: 1080)
        _ = PreparationPlan(media: media, bytes: 90_000_000, request: request)
        media = InspectedMedia(format: .gif)
        media.frames = 9
        _ = PreparationPlan(media: media, bytes: 9_000, request: request)
    }

    private static func checkList(_ text: String) {
        var last = 0
        for line in BatchList.lines(Array(text.utf8)) {
            Invariant.hold(line.number > last, "lines are counted upwards")
            last = line.number
            if line.isTooLong { continue }
            Invariant.hold(!line.text.isEmpty && !line.text.contains(where: \.isNewline), "a line is a line")
            guard let request = parsed({ try line.request(defaults: AttachmentRequest(source: "")) }) else { continue }
            if !line.text.hasPrefix("{") { Invariant.hold(request.source == line.text, "a line is its source") }
        }
    }

    /// Nil when the request is rejected with a request error.
    private static func parsed<Value>(_ parse: () throws -> Value) -> Value? {
        do {
            return try parse()
        } catch let error as AttachPrepError {
            let word = error.code.rawValue
            Invariant.hold(
                word.hasPrefix("request.") || word.hasPrefix("options."), "errors blame the request: \(error)")
            return nil
        } catch {
            Invariant.broken("threw an unexpected error type: \(error)")
        }
    }
}
