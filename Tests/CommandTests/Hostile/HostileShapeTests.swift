import TestSupport
import Testing

/// Known attacks by files, made by hand: each ends with an allowed outcome, in time, with bounded memory and without
/// access to another file or URL.
@Suite(.timeLimit(.minutes(3))) struct HostileShapeTests {
    let hostile: HostileBench

    init() throws {
        hostile = try HostileBench()
    }

    @Test func `The traps detect access to the file and to the URL`() async throws {
        _ = try hostile.bench.folder.bytes(of: "secret.txt")
        #expect(hostile.traps.wereTouched())
        #expect(!hostile.traps.wereTouched())
        _ = try await RunCommand("curl", ["-s", hostile.traps.address]).run()
        #expect(hostile.traps.wereTouched())
    }

    @Test func `Playlists open no other file or URL, whatever their name`() async throws {
        try await hostile.run(PlaylistShapes.bare)
    }

    @Test func `Playlists inside movies and audio open no other file or URL`() async throws {
        try await hostile.run(PlaylistShapes.wrapped)
    }

    @Test func `Documents and scripts are not read as images`() async throws {
        try await hostile.run(DocumentShapes.all)
    }

    @Test func `A valid handmade movie is converted`() async throws {
        try await hostile.run([BoxShapes.valid])
    }

    @Test func `Data references of movies open no other file or URL`() async throws {
        try await hostile.run(BoxShapes.references)
    }

    @Test func `MP4 boxes with wrong sizes, deep nesting or many repetitions end in time`() async throws {
        try await hostile.run(BoxShapes.boxes)
    }

    @Test func `Sample tables with billions of entries take bounded memory`() async throws {
        try await hostile.run(BoxShapes.tables)
    }

    @Test func `Containers and streams with extreme values are rejected`() async throws {
        try await hostile.run(StreamShapes.matroskas + StreamShapes.others)
    }

    @Test func `Audio with wrong tags and lengths takes bounded memory`() async throws {
        try await hostile.run(AudioShapes.mp3s + AudioShapes.others)
    }

    @Test func `PNGs with large declared or decompressed sizes take bounded memory`() async throws {
        try await hostile.run(PNGShapes.all)
    }

    @Test func `Animations with many or large frames take bounded memory`() async throws {
        try await hostile.run(AnimationShapes.gifs + AnimationShapes.webps)
    }

    @Test func `JPEGs with invalid segments, profiles or EXIF end in time`() async throws {
        try await hostile.run(StillShapes.jpegs)
    }

    @Test func `TIFFs, HEIFs and BMPs with extreme values end in time`() async throws {
        try await hostile.run(StillShapes.tiffs + StillShapes.heifs + StillShapes.bitmaps)
    }

    @Test func `JPEG 2000 and JPEG XL images with extreme sizes, tiles and components take bounded memory`()
        async throws
    {
        try await hostile.run(WaveletShapes.all)
    }

    @Test func `Icons with extreme values take bounded memory`() async throws {
        try await hostile.run(IconShapes.all)
    }

    @Test func `Drawings that are slow or large to draw end in time`() async throws {
        try await hostile.run(DrawingShapes.all, memoryMax: 1_000_000)
    }
}
