import Foundation
import FuzzSupport
import MediaEngine
import MediaTypes

@testable import AttachPrep
@testable import AttachPrepModel

/// Runs the whole pipeline against a compromised media process, and checks its files and manifest.
@main enum MediaProcessFuzz {
    private static let folder = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/attachprep-fuzz-\(getpid())"
    private static let engine = LyingEngine()
    nonisolated(unsafe) private static var descriptors = DescriptorCount(slack: 100)
    nonisolated(unsafe) private static var runs: UInt64 = 0

    private static let preparer: AttachmentPreparer = {
        var configuration = PreparerConfiguration(output: folder + "/out")
        configuration.allowsLocalFiles = true
        configuration.dataFolder = nil
        do {
            return try AttachmentPreparer(configuration, engine: engine)
        } catch {
            Invariant.broken("the preparer cannot be created: \(error)")
        }
    }()

    static func main() {
        mkdir(folder, 0o700)
        mkdir(folder + "/out", 0o700)
        FuzzTarget.run { input in try play(input) }
    }

    private static func play(_ input: FuzzInput) throws {
        var input = input
        let inspects = input.byte() == 0xA5
        var request = request(&input)
        request.source = try source(input.byte())
        engine.begin(input)
        let requested = request
        if inspects {
            let report = Waiting.result { await preparer.inspect(requested) }
            Invariant.hold((try? JSONEncoder().encode(report)) != nil, "a report can be written")
        } else {
            let manifest = Waiting.result { await preparer.prepare(requested) }
            engine.scribble()
            try check(manifest)
        }
        engine.scribble()
        descriptors.check()
    }

    /// A source with unique content for each input: otherwise crashes would put it into quarantine for later inputs.
    private static func source(_ choice: UInt8) throws -> String {
        let path = folder + "/source"
        runs += 1
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        var number = runs
        Invariant.hold(pwrite(descriptor, &number, 8, 0) == 8, "a source can be written")
        let lengths = [5_000, 9, 300_000, 70_000]
        // Rarely over the limits of images and audio, since the source is copied and hashed.
        ftruncate(descriptor, choice == 0xFF ? 10_000_001 : off_t(lengths[Int(choice) % lengths.count]))
        return path
    }

    private static func request(_ input: inout FuzzInput) -> AttachmentRequest {
        var request = AttachmentRequest(source: "")
        request.id = "a"
        for _ in 0..<input.byte() % 4 {
            let row = rows[Int(input.byte()) % rows.count]
            let examples = row.facts.examples
            _ = try? row.parse(&request, examples[Int(input.byte()) % examples.count])
        }
        request.budgetSeconds = 2
        return request
    }

    /// The options that change what the media process does.
    private static let rows = AttachmentRequest.optionRows.filter {
        !["budget", "headers", "avatar", "targets", "seal", "attachmentTypes"].contains($0.facts.key)
    }

    private static func check(_ manifest: Manifest) throws {
        let written = Array(try manifest.json())
        let again = try Manifest(json: written)
        Invariant.hold(again == manifest, "a manifest reads back the same")
        let results = try FileManager.default.contentsOfDirectory(atPath: folder + "/out")
        guard manifest.outcome != .rejected else {
            Invariant.hold(results.isEmpty, "a rejected source leaves no files: \(results)")
            return
        }
        let result = folder + "/out/\(manifest.id)"
        Invariant.hold(results == [manifest.id], "there is one result: \(results)")
        if let file = manifest.attachment { check(result, file.file, file.bytes, file.sha256) }
        for file in [manifest.thumbnail, manifest.crop].compactMap(\.self) {
            check(result, file.file, file.bytes, file.sha256)
        }
        let kept = FileManager.default.contents(atPath: "\(result)/\(Manifest.fileName)").map { Array($0) } ?? []
        Invariant.hold((try? Manifest(json: kept)) == manifest, "the manifest is on the disk")
        let files = try FileManager.default.contentsOfDirectory(atPath: result).sorted()
        let names = manifest.publishedFiles.map(\.name) + [Manifest.fileName]
        Invariant.hold(files == names.sorted(), "no other files: \(files)")
        try FileManager.default.removeItem(atPath: result)
    }

    private static func check(_ folder: String, _ name: String, _ bytes: Int, _ sha256: String) {
        Invariant.hold(!name.contains("/"), "a file name has no slash: \(name)")
        let content = FileManager.default.contents(atPath: "\(folder)/\(name)").map { Array($0) }
        let count = content?.count ?? -1
        Invariant.hold(count == bytes, "\(name) has \(count) bytes, \(bytes) in the manifest")
        Invariant.hold(content.map { UploadDigest.sha256(of: $0) } == sha256, "\(name) has the digest in the manifest")
    }
}
