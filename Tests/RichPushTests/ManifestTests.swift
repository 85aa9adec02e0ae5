import Foundation
import RichPush
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

    @Test func `Every key is present, null where there is nothing to say`() throws {
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

    @Test func `The parts of a delivered one have the contract's keys`() throws {
        let object = try object(delivered())
        let keys = { (name: String) in Set((object[name] as? [String: Any] ?? [:]).keys) }
        #expect(
            keys("attachment") == [
                "file", "url", "kind", "uti", "mimeType", "bytes", "sha256", "width", "height", "frames", "duration",
            ])
        let picture: Set = ["file", "url", "mimeType", "bytes", "sha256", "width", "height"]
        #expect(keys("thumbnail") == picture.union(["time"]))
        #expect(keys("crop") == picture)
        #expect(keys("options") == ["typeHint", "thumbnailHidden", "thumbnailClippingRect", "thumbnailTime"])
        #expect(
            keys("timings") == [
                "queue", "dns", "connect", "tls", "firstByte", "transfer", "identify", "inspect", "render", "publish",
                "total",
            ])
        #expect(keys("deviceFetch") == ["3g", "lte", "wifi"])
    }

    @Test func `A clipping rectangle is written as Core Graphics reads it`() throws {
        let options = try #require(try object(delivered())["options"] as? [String: Any])
        let rect = try #require(options["thumbnailClippingRect"] as? [String: Double])
        #expect(rect == ["X": 0.25, "Y": 0, "Width": 0.5, "Height": 1])
    }

    @Test func `A movie's time is a CMTime dictionary, an animation's a number`() throws {
        let options = try #require(try object(delivered())["options"] as? [String: Any])
        let time = try #require(options["thumbnailTime"] as? [String: Int])
        #expect(time == ["value": 1800, "timescale": 600, "epoch": 0, "flags": 1])
        let frame = try JSONEncoder().encode([ThumbnailTime.frame(7)])
        #expect(String(decoding: frame, as: UTF8.self) == "[7]")
    }

    @Test func `What was written can be read back`() throws {
        for manifest in [rejected(), try delivered()] {
            #expect(try JSONDecoder().decode(Manifest.self, from: JSONEncoder().encode(manifest)) == manifest)
        }
    }

    @Test(arguments: [(3.0, 1800), (0, 0), (1.1, 660), (0.001, 1), (1.0 / 3, 200), (2.0025, 1202)])
    func `A movie's time is rounded up to the next 600th of a second`(seconds: Double, value: Int64) {
        #expect(MovieTime(seconds: seconds).value == value)
    }

    @Test func `Fetch times are two round trips and the bytes at the network's rate`() {
        #expect(NetworkProfile.deviceFetch(bytes: 61_220) == ["3g": 0.61, "lte": 0.18, "wifi": 0.05])
    }
}
