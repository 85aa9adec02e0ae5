import Foundation
import TestSupport
import Testing

@Suite struct TestImageTests {
    @Test func `An image has distance 0 from itself`() throws {
        let grid = try TestImage(decoding: SourceTree.sample("grid.png"))
        #expect(ImageDistance(grid, grid) == ImageDistance(grid, grid))
        #expect(ImageDistance(grid, grid).blockMax == 0)
    }

    @Test func `A lossy copy has a small distance, another image a large one`() throws {
        let grid = try TestImage(decoding: SourceTree.sample("grid.png"))
        let jpeg = try TestImage(decoding: SourceTree.sample("grid.jpg"))
        let small = try TestImage(decoding: SourceTree.sample("grid.bmp"))
        let stored = try TestImage(decoding: SourceTree.sample("portrait.mp4"))
        for copy in [jpeg, small] {
            let distance = ImageDistance(grid, copy)
            #expect(distance.mean < 1 && distance.blockMax < 8, "\(distance)")
        }
        #expect(ImageDistance(grid, stored).mean > 10)
    }

    @Test func `The distance between colors is perceptual`() {
        let white = TestColor(hex: 0xffffff)
        #expect(abs(white.distance(to: TestColor(hex: 0x000000)) - 100) < 0.1)
        #expect(white.distance(to: TestColor(hex: 0xfdfdfd)) < 2.3)
        #expect(TestColor(hex: 0xff0000).distance(to: TestColor(hex: 0x00ff00)) > 100)
    }

    @Test func `Transparency is sampled`() throws {
        let hole = try TestImage(decoding: SourceTree.sample("transparent.webp"))
        #expect(hole.alpha(atUnitX: 0.1, y: 0.1) == 255)
        #expect(hole.alpha(atUnitX: 0.5, y: 0.5) == 0)
        #expect(abs(hole.alpha(atUnitX: 0.5, y: 0.9) - 128) < 1)
    }

    @Test func `A file that is not an image is rejected`() {
        #expect(throws: CommandError.self) { try TestImage(decoding: SourceTree.sample("picture.jpg")) }
    }
}

@Suite struct SampleMotifTests {
    @Test(arguments: ["grid.jpg", "grid.png", "grid.gif", "grid.bmp", "grid.avif", "clock.mp4", "anamorphic.mp4"])
    func `A sample shows its twelve cells in order`(name: String) throws {
        let image = try TestImage(decoding: SourceTree.sample(name))
        #expect(SampleMotif.cells(in: image) == Array(1...12))
    }

    @Test func `A portrait movie shows three columns and four rows`() throws {
        let image = try TestImage(decoding: SourceTree.sample("portrait.mp4"))
        #expect((image.width, image.height) == (240, 320))
        #expect(SampleMotif.cells(in: image, columns: 3, rows: 4) == Array(1...12))
    }

    @Test(arguments: ["clock.mp4", "hevc.mp4", "portrait.mp4", "anamorphic.mp4", "clock.avi", "clock.mpg", "clock.mov"])
    func `The frame number of a movie is read`(name: String) throws {
        for frame in [0, 1, 37, 49] {
            let image = try TestImage(decoding: SourceTree.sample(name), frame: frame)
            #expect(SampleMotif.frameNumber(in: image) == frame)
        }
    }

    @Test func `The frame number of an animation is read`() throws {
        for frame in 0..<12 {
            let image = try TestImage(decoding: SourceTree.sample("counter.gif"), frame: frame)
            #expect(SampleMotif.frameNumber(in: image) == frame)
        }
    }
}

@Suite struct RunCommandTests {
    @Test func `Output, error output and exit code are returned`() async throws {
        let result = try await RunCommand("sh", ["-c", "cat; echo trouble >&2; exit 3"], input: Array("in\n".utf8))
            .run()
        #expect(result.exitCode == 3)
        #expect(result.lines == ["in"])
        #expect(result.errorText == "trouble\n")
    }

    @Test func `Variables are added and removed, and the folder is set`() async throws {
        let folder = try TemporaryFolder()
        let result = try await RunCommand(
            "sh", ["-c", "echo $ADDED-$HOME; pwd"], environment: ["ADDED": "yes", "HOME": nil], folder: folder.path
        ).run()
        #expect(result.lines == ["yes-", folder.url.resolvingSymlinksInPath().path])
    }

    @Test func `A signal is reported as by a shell`() async throws {
        let running = try RunCommand("cat", ["/dev/zero"]).start()
        running.send(SIGKILL)
        #expect(try await running.result().exitCode == 128 + SIGKILL)
    }

    @Test func `A program that does not end is killed and named in the error`() async throws {
        let error = await #expect(throws: CommandError.self) {
            try await RunCommand("tail", ["-f", "/dev/null"], timeoutSeconds: 0.2).run()
        }
        #expect(error?.description.contains("tail -f /dev/null did not end") == true)
    }

    @Test func `A missing program is named with the remedy`() async throws {
        let error = await #expect(throws: CommandError.self) { try await RunCommand("no-such-program").run() }
        #expect(error?.description.contains("make deps deps-test") == true)
    }

    @Test func `The built binaries are found`() async throws {
        #expect(FileManager.default.isExecutableFile(atPath: try BuiltBinary.attachprep()))
        #expect(FileManager.default.isExecutableFile(atPath: try BuiltBinary.attachprepMedia()))
    }
}

@Suite struct TemporaryFolderTests {
    @Test func `A temporary folder is removed with its last reference`() throws {
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(folder?.path)
        try folder?.write("text", to: "a.txt")
        try folder?.makeFolder("inner")
        #expect(try folder?.contents() == ["a.txt", "inner"])
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
