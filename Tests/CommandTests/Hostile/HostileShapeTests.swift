import TestSupport
import Testing

/// Known ways to harm who opens a file, made by hand: each ends in its own code, in time and in little memory, and no
/// other file is opened, no address visited.
@Suite(.timeLimit(.minutes(3))) struct HostileShapeTests {
    let hostile: HostileBench

    init() throws {
        hostile = try HostileBench()
    }

    @Test func `The traps see what touches them`() async throws {
        _ = try hostile.bench.folder.bytes(of: "secret.txt")
        #expect(hostile.traps.wereTouched())
        #expect(!hostile.traps.wereTouched())
        _ = try await RunCommand("curl", ["-s", hostile.traps.address]).run()
        #expect(hostile.traps.wereTouched())
    }

    @Test func `Playlists lead nowhere, whatever they are called`() async throws {
        try await hostile.run(PlaylistShapes.bare)
    }

    @Test func `Playlists inside movies and sounds lead nowhere`() async throws {
        try await hostile.run(PlaylistShapes.wrapped)
    }

    @Test func `Documents and scripts are not read as pictures`() async throws {
        try await hostile.run(DocumentShapes.all)
    }

    @Test func `A movie made by hand is shown when nothing is wrong with it`() async throws {
        try await hostile.run([BoxShapes.honest])
    }

    @Test func `Movies do not fetch their samples from elsewhere`() async throws {
        try await hostile.run(BoxShapes.references)
    }

    @Test func `Boxes that lie, nest and repeat end in time`() async throws {
        try await hostile.run(BoxShapes.boxes)
    }

    @Test func `Sample tables of billions take no memory`() async throws {
        try await hostile.run(BoxShapes.tables)
    }

    @Test func `Streams of extreme values are refused`() async throws {
        try await hostile.run(StreamShapes.matroskas + StreamShapes.others)
    }

    @Test func `Sounds whose tags and lengths lie take no memory`() async throws {
        try await hostile.run(SoundShapes.mp3s + SoundShapes.others)
    }

    @Test func `PNGs that unpack to more than they look`() async throws {
        try await hostile.run(PNGShapes.all)
    }

    @Test func `Animations of many frames or large ones`() async throws {
        try await hostile.run(AnimationShapes.gifs + AnimationShapes.webps)
    }

    @Test func `JPEGs, and what their metadata says`() async throws {
        try await hostile.run(StillShapes.jpegs)
    }

    @Test func `TIFFs, HEIFs and BMPs that are more than they look`() async throws {
        try await hostile.run(StillShapes.tiffs + StillShapes.heifs + StillShapes.bitmaps)
    }
}
