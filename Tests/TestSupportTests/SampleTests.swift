import Foundation
import TestSupport
import Testing

struct SampleTests {
    @Test func `Each sample has a row, and each row a sample`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media"))
        // The server returns 404 for it.
        #expect(Set(files) == Set(Sample.all.map(\.file)).subtracting(["nowhere.jpg"]))
        #expect(Set(Sample.all.map(\.file)).count == Sample.all.count)
    }
}
