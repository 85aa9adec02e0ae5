import AttachPrepModel
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// Netrc files, as curl reads them.
@Suite struct NetrcFileTests {
    private func login(_ text: String, host: String = "a.example") throws -> String? {
        let value = try NetrcFile(text).authorization(for: host)
        return try value.map { value in
            let data = try #require(Data(base64Encoded: String(value.dropFirst("Basic ".count))))
            return String(decoding: data, as: UTF8.self)
        }
    }

    @Test(arguments: [
        "machine a.example login u password p", "machine A.Example\n\tpassword p\r\n  login u\n",
        "# machine x\nmachine a.example login u password p # comment",
        "machine b login x password y\ndefault login u password p",
        "machine a.example login \"u\" password \"p\"", "\u{FEFF}machine a.example login u account x password p",
        "macdef init\nmachine a.example login no\n\nmachine a.example login u password p",
        "machine a.example login u password p machine a.example login later password x",
    ])
    func `The first entry of a host, or the default, gives its credentials`(text: String) throws {
        #expect(try login(text) == "u:p")
    }

    @Test func `Quoted values have escapes, others may have any character`() throws {
        #expect(try login(#"machine a.example login "u \"\\\t" password #p"s"#) == "u \"\\\t:#p\"s")
    }

    @Test(arguments: ["", "machine b.example login u password p", "machine a.example", "machine example login u"])
    func `Other hosts get nothing`(text: String) throws {
        #expect(try login(text) == nil)
    }

    @Test(arguments: [
        "machine", "machine a.example login", "machine a.example login \"u", "host a.example",
        "machine a.example login u secret p",
    ])
    func `An invalid file is request.invalid without its secrets`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try NetrcFile("machine x password SECRET\n" + text) }
        #expect(error?.code == .requestInvalid && error?.message.contains("SECRET") == false)
    }

    @Test func `A value without an entry is request.invalid`() {
        #expect(throws: AttachPrepError.self) { try NetrcFile("login u") }
    }

    @Test func `A missing or large file is request.invalid`() throws {
        let folder = try TemporaryFolder()
        let large = try folder.write([UInt8](repeating: 0x20, count: 65_537), to: "netrc")
        for path in [large, folder.path("none")] {
            #expect(throws: AttachPrepError.self) { try NetrcFile(path: path) }
        }
    }

    @Test func `Credentials of the URL and of a header take precedence`() throws {
        let netrc = try NetrcFile("default login u password p")
        var request = AttachmentRequest(source: "https://x:y@a.example/")
        #expect(netrc.authorizing(request) == request)
        request.source = "https://a.example/"
        #expect(netrc.authorizing(request).headers["Authorization"] == "Basic dTpw")
        request.headers = ["authorization": "Bearer x"]
        #expect(netrc.authorizing(request) == request)
    }
}
