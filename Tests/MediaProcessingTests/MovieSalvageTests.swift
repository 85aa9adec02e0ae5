import MediaProcessing
import TestSupport
import Testing

@Suite struct MovieSalvageTests {
    @Test(arguments: [
        MovieFixture.attachableMovies[1], MovieFixture.attachableMovies[8], MovieFixture.attachableSounds[0],
    ])
    func `what is left of a cut file is measured against its header`(fixture: MovieFixture) throws {
        let file = try GeneratedMedia.cut(fixture.file(), percent: 62)
        let recovered = try withDescriptor(file) {
            try MovieRecovery.read(descriptor: $0, format: fixture.format, deadline: .now + .seconds(60))
        }
        #expect(recovered.media.format == fixture.format)
        #expect((2...4.5).contains(recovered.media.duration ?? 0))
        #expect(abs((recovered.declaredDuration ?? 0) - 5) < 0.2)
    }
}
