import Foundation
import FuzzSupport
import TestSupport
import Testing

@testable import AddressFuzz
@testable import AnimationParserFuzz
@testable import AudioParserFuzz
@testable import EndpointFuzz
@testable import GIFEncoderFuzz
@testable import HeaderFuzz
@testable import ImageParserFuzz
@testable import ManifestFuzz
@testable import MediaProcessFuzz
@testable import MessageFuzz
@testable import MovieParserFuzz
@testable import OptionFuzz
@testable import OriginFuzz
@testable import PayloadFuzz
@testable import PostgresFuzz
@testable import PublishFuzz
@testable import RequestFuzz
@testable import RowFuzz
@testable import SignatureFuzz

/// Every fuzz target is compiled and runs its seeds once; `make fuzz` searches further, with libFuzzer and the address
/// sanitizer.
struct SeedTests {
    private static let targets: [String: @MainActor @Sendable () -> Void] = [
        "AddressFuzz": AddressFuzz.main, "AnimationParserFuzz": AnimationParserFuzz.main,
        "AudioParserFuzz": AudioParserFuzz.main, "EndpointFuzz": EndpointFuzz.main,
        "GIFEncoderFuzz": GIFEncoderFuzz.main, "HeaderFuzz": HeaderFuzz.main, "ImageParserFuzz": ImageParserFuzz.main,
        "ManifestFuzz": ManifestFuzz.main, "MediaProcessFuzz": MediaProcessFuzz.main, "MessageFuzz": MessageFuzz.main,
        "MovieParserFuzz": MovieParserFuzz.main, "OptionFuzz": OptionFuzz.main,
        "OriginFuzz": OriginFuzz.main, "PayloadFuzz": PayloadFuzz.main, "PostgresFuzz": PostgresFuzz.main,
        "PublishFuzz": PublishFuzz.main,
        "RequestFuzz": RequestFuzz.main, "RowFuzz": RowFuzz.main,
        "SignatureFuzz": SignatureFuzz.main,
    ]

    @Test(arguments: targets.keys.sorted())
    func `A fuzz target finds nothing in its seeds`(_ target: String) async throws {
        let folder = try TemporaryFolder()
        let seeds = try await RunCommand(SourceTree.path("Fuzz/seeds"), [target, folder.path]).run()
        try #require(seeds.exitCode == 0, "\(seeds.errorText)")
        let path = folder.path
        // An invariant that does not hold aborts the process.
        await #expect(processExitsWith: .success) { [target, path = path as String] in
            FuzzTarget.inputs = try FileManager.default.contentsOfDirectory(atPath: path).sorted().map { name in
                Array(try Data(contentsOf: URL(fileURLWithPath: path).appendingPathComponent(name)))
            }
            let run = try #require(SeedTests.targets[target])
            await run()
        }
    }

    @Test func `An input that breaks an invariant ends the process`() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            FuzzTarget.inputs = [[1]]
            FuzzTarget.run { input in Invariant.hold(input.bytes.isEmpty, "the input is empty") }
        }
    }

    @Test func `Every target of the folder Fuzz is here`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("Fuzz"))
        #expect(Set(names.filter { $0.hasSuffix("Fuzz") }) == Set(Self.targets.keys))
    }
}
