import AttachPrepModel
import Foundation
import MediaTypes
import Testing

struct ManifestTests {
    private func object(_ manifest: Manifest) throws -> [String: Any] {
        let data = try JSONEncoder().encode(manifest)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func rejected() -> Manifest {
        var manifest = Manifest(
            id: "a", requestDigest: "b", outcome: .rejected, source: ManifestSource(url: "https://cdn.example/a"))
        manifest.error = ManifestError(AttachPrepError(.mediaEmpty, "Empty."))
        return manifest
    }

    private func delivered() throws -> Manifest {
        var manifest = rejected()
        manifest.outcome = .passed
        manifest.error = nil
        manifest.attachment = ManifestFile(file: "attachment.mp4", type: .mpeg4, bytes: 10, sha256: "00")
        manifest.thumbnail = ManifestImage(
            file: "thumbnail.jpg", mimeType: "image/jpeg", bytes: 9, sha256: "01", width: 3, height: 2, isTimed: true)
        manifest.crop = ManifestImage(
            file: "crop.jpg", mimeType: "image/jpeg", bytes: 9, sha256: "01", width: 3, height: 2, isTimed: false)
        manifest.options = AttachmentOptions(
            typeHint: "public.mpeg-4", thumbnailClippingRect: try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1),
            thumbnailTime: .movie(MovieTime(seconds: 3)))
        manifest.deviceFetch = NetworkProfile.deviceFetch(bytes: 10)
        return manifest
    }

    @Test func `Every key is present, with null where there is no value`() throws {
        let object = try object(rejected())
        let keys = [
            "schema", "id", "requestDigest", "outcome", "reasons", "source", "attachment", "thumbnail", "crop",
            "options",
            "deviceFetch", "timings", "warnings", "error",
        ]
        #expect(Set(object.keys) == Set(keys))
        #expect(object["attachment"] is NSNull && object["deviceFetch"] is NSNull)
        let source = try #require(object["source"] as? [String: Any])
        #expect(Set(source.keys) == ["url", "finalURL", "declaredMIMEType", "mimeType", "bytes", "sha256"])
        let error = try #require(object["error"] as? [String: Any])
        #expect(Set(error.keys) == ["code", "message", "retryable", "appleCode"])
    }

    @Test func `The objects of a complete manifest have the keys of the contract`() throws {
        let object = try object(delivered())
        let keys = { (name: String) in Set((object[name] as? [String: Any] ?? [:]).keys) }
        #expect(
            keys("attachment") == [
                "file", "url", "kind", "uti", "mimeType", "bytes", "sha256", "width", "height", "frames", "duration",
            ])
        let imageKeys: Set = ["file", "url", "mimeType", "bytes", "sha256", "width", "height"]
        #expect(keys("thumbnail") == imageKeys.union(["time"]))
        #expect(keys("crop") == imageKeys)
        #expect(keys("options") == ["typeHint", "thumbnailHidden", "thumbnailClippingRect", "thumbnailTime"])
        #expect(
            keys("timings") == [
                "queue", "dns", "connect", "tls", "firstByte", "transfer", "identify", "inspect", "render", "publish",
                "total",
            ])
        #expect(keys("deviceFetch") == ["3g", "lte", "wifi"])
    }

    @Test func `A clipping rectangle is a Core Graphics rectangle dictionary`() throws {
        let options = try #require(try object(delivered())["options"] as? [String: Any])
        let rect = try #require(options["thumbnailClippingRect"] as? [String: Double])
        #expect(rect == ["X": 0.25, "Y": 0, "Width": 0.5, "Height": 1])
    }

    @Test func `A movie's thumbnail time is a CMTime dictionary, an animation's a frame number`() throws {
        let options = try #require(try object(delivered())["options"] as? [String: Any])
        let time = try #require(options["thumbnailTime"] as? [String: Int])
        #expect(time == ["value": 1800, "timescale": 600, "epoch": 0, "flags": 1])
        let frame = try JSONEncoder().encode([ThumbnailTime.frame(7)])
        #expect(String(decoding: frame, as: UTF8.self) == "[7]")
    }

    @Test func `A manifest decodes to the value that was encoded`() throws {
        var shown = try delivered()
        shown.source.attachable = false
        for manifest in [rejected(), try delivered(), shown] {
            #expect(try JSONDecoder().decode(Manifest.self, from: JSONEncoder().encode(manifest)) == manifest)
        }
    }

    @Test(arguments: [(3.0, 1800), (0, 0), (1.1, 660), (0.001, 1), (1.0 / 3, 200), (2.0025, 1202)])
    func `A movie's time is rounded up to the next 600th of a second`(seconds: Double, value: Int64) {
        #expect(MovieTime(seconds: seconds).value == value)
    }

    @Test(arguments: [(3.999, 2399), (3.99, 2394), (4, 2400), (4.5, 2700)])
    func `A time before the end of a movie is not rounded up to the end`(seconds: Double, value: Int64) {
        #expect(MovieTime(seconds: seconds, before: 4).value == value)
    }

    @Test func `A fetch takes two round trips plus the bytes at the network's rate`() {
        #expect(NetworkProfile.deviceFetch(bytes: 61_220) == ["3g": 0.61, "lte": 0.18, "wifi": 0.05])
    }
}

struct ErrorCodeTests {
    /// The codes that other programs rely on.
    static let contract = [
        "request.invalid", "request.unauthorized", "request.not_found", "request.conflict", "request.too_large",
        "request.rate_limited", "source.invalid_url", "source.scheme_not_allowed", "source.address_blocked",
        "source.not_a_file", "source.not_found", "download.dns", "download.connect", "download.tls",
        "download.http_status",
        "download.content_coding", "download.too_many_redirects", "download.timeout", "download.truncated",
        "download.too_large", "media.empty",
        "media.unrecognized", "media.unsupported", "media.corrupt", "media.encrypted", "media.too_many_pixels",
        "media.too_many_frames", "media.too_long", "media.too_complex", "media.quarantined", "media.decoder_crashed",
        "limit.exceeded",
        "options.invalid_clipping_rect", "options.invalid_time", "options.invalid_size", "deadline.exceeded",
        "deadline.not_after", "events.full",
        "output.not_writable", "output.no_space", "publish.denied", "publish.not_found", "publish.unavailable",
        "publish.rejected",
        "payload.no_media", "payload.too_large", "payload.invalid", "queue.full", "queue.unavailable",
        "job.worker_lost", "sandbox.unavailable", "cancelled", "internal",
    ]

    @Test func `The error codes are those of the contract, none renamed or missing`() {
        #expect(Set(ErrorCode.allCases.map(\.rawValue)) == Set(Self.contract))
    }

    @Test(arguments: [
        (ErrorCode.sourceInvalidURL, 100), (.mediaUnrecognized, 101), (.mediaUnsupported, 101), (.limitExceeded, 102),
        (.downloadTooLarge, 102), (.mediaCorrupt, 105), (.mediaEmpty, 105),
    ])
    func `An error code includes Apple's error number where one matches`(code: ErrorCode, number: Int) {
        #expect(code.appleCode == number)
    }

    @Test(arguments: ErrorCode.allCases) func `Every error code has a 4xx or 5xx status`(code: ErrorCode) {
        #expect((400...599).contains(code.httpStatus))
    }

    @Test func `Transient network errors are retryable, defects of the file are not`() {
        let retryable: [ErrorCode] = [.downloadDNS, .downloadConnect, .downloadTimeout, .downloadTruncated]
        let permanent: [ErrorCode] = [
            .mediaCorrupt, .mediaUnrecognized, .sourceNotFound, .limitExceeded, .downloadTLS, .deadlineNotAfter,
        ]
        #expect(retryable.allSatisfy { $0.isRetryable })
        #expect(!permanent.contains { $0.isRetryable })
    }
}

/// Extreme numbers in manifests, options and payloads (issue 18).
@Suite struct UntrustedNumberTests {
    @Test(arguments: [1e300, -1e300, .infinity, -.infinity, .nan, 1e16])
    func `Any time, infinite or NaN, gives a valid movie time`(seconds: Double) {
        let time = MovieTime(seconds: seconds)
        #expect(time.timescale == 600 && !time.seconds.isNaN)
    }

    @Test(arguments: [0, -1, 1, .min, .max])
    func `A crop of an image of any size has at least one pixel`(side: Int) throws {
        let rect = try ClippingRect(x: 0.5, y: 0.25, width: 0.5, height: 0.75)
        let pixels = rect.pixels(width: side, height: side)
        #expect(pixels.width >= 1 && pixels.height >= 1 && pixels.left >= 0 && pixels.top >= 0)
    }

    @Test(arguments: [1e300, -1e300, .infinity, .nan])
    func `Any fetch time gives a valid number of bytes`(seconds: Double) {
        let bytes = NetworkProfile.bytesMax(within: seconds, bitsPerSecond: 1e12, roundTripSeconds: 0.1)
        #expect(seconds > 0 ? bytes == .max : bytes <= 0)
    }

    @Test(arguments: [Int.min, .max, 0, -1]) func `A file of any size has a finite fetch time`(bytes: Int) {
        #expect(NetworkProfile.lte.fetchSeconds(bytes: bytes).isFinite)
    }
}
