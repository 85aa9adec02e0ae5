import AttachPrepModel
import Foundation
import RichPush
import Testing

@testable import AttachPrep

/// `seal` in requests.
struct SealedRequestTests {
    private func request(_ json: String) throws -> AttachmentRequest {
        try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: ""))
    }

    @Test func `A request asks for it, and is written as it was read`() throws {
        let read = try request(#"{"source": "https://cdn.example/a.jpg", "seal": true}"#)
        #expect(read.seal)
        #expect(try request(String(decoding: JSONEncoder().encode(read), as: UTF8.self)) == read)
        #expect(try !request(#"{"source": "https://cdn.example/a.jpg"}"#).seal)
    }

    @Test(arguments: [#""targets": ["ios", "web"]"#, #""avatar": "https://cdn.example/face.jpg""#])
    func `Media for other systems is refused`(member: String) throws {
        let read = try request(#"{"source": "https://cdn.example/a.jpg", "seal": true, \#(member)}"#)
        #expect {
            try read.validate()
        } throws: { error in
            (error as? AttachPrepError)?.code == .requestInvalid
        }
    }

    @Test func `iOS alone may be named`() throws {
        try request(#"{"source": "https://cdn.example/a.jpg", "seal": true, "targets": ["ios"]}"#).validate()
    }

    @Test func `A manifest without its secret says that files are sealed`() throws {
        var manifest = Manifest(
            id: "a", requestDigest: "", outcome: .passed, source: ManifestSource(url: "https://cdn.example/a.jpg"))
        let secret = SealedSecret.make()
        manifest.sealed = ManifestSeal(version: 1, secret: secret)
        #expect(!String(try manifest.withoutSecret.json()).contains(secret.text))
        #expect(String(try manifest.withoutSecret.json()).contains(#""sealed":{"version":1}"#))
        #expect(String(try manifest.json()).contains(secret.text))
        #expect(try Manifest(json: manifest.json()) == manifest)
        #expect(!"\(manifest)".contains(secret.text))
    }
}
