import Foundation
import TestSupport
import Testing

/// The URL, type and suggested name from which app SDKs name a downloaded file: all three must agree.
@Suite(.timeLimit(.minutes(3))) struct ServedFileTests {
    /// The MIME types by extension, as in Apple's table.
    private static let types = [
        "jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "aiff": "audio/aiff", "wav": "audio/wav",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "mpg": "video/mpeg", "m2v": "video/mpeg", "mp4": "video/mp4",
        "avi": "video/x-msvideo",
    ]

    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    @Test func `URL, content type and suggested name of every served file agree`() async throws {
        let service = try await bench.start()
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
        let crop = #"{"x": 0, "y": 0, "width": 0.5, "height": 1}"#
        _ = try await service.client.submit(
            lines: try names.map { #"{"source": "\#(try ServiceBench.url($0))", "options": {"crop": \#(crop)}}"# })
        try await service.client.allEnded(seconds: 120)
        var seen: Set<String> = []
        for job in try await service.client.jobs() {
            for name in ["attachment", "thumbnail", "crop"] {
                guard let url = job.file(name)?.url, let file = job.result?[name] as? [String: Any] else { continue }
                let response = try await service.client.get(url)
                let pathExtension = URL(fileURLWithPath: url).pathExtension
                seen.insert(pathExtension)
                let type = try #require(Self.types[pathExtension], "\(url)")
                #expect(response.status == 200 && response.header("content-type") == type, "\(url)")
                #expect(file["mimeType"] as? String == type, "\(url)")
                #expect(response.header("content-disposition")?.hasSuffix(".\(pathExtension)\"") == true, "\(url)")
                let isEncoded = name != "attachment" || job.result?["outcome"] as? String == "converted"
                if pathExtension == "jpg", isEncoded {
                    #expect(response.body.starts(with: [0xff, 0xd8, 0xff, 0xe0]), "\(url)")
                    #expect(response.body.dropFirst(6).starts(with: Data("JFIF".utf8)), "\(url)")
                }
            }
        }
        #expect(seen == Set(Self.types.keys))
        try await service.stop()
    }
}
