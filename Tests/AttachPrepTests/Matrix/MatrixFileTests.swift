import AttachPrepModel
import Crypto
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// Encrypted attachments of Matrix.
@Suite(.timeLimit(.minutes(1))) struct MatrixFileTests {
    /// A test vector of https://github.com/matrix-org/matrix-encrypt-attachment (test/decrypt.Spec.js), version 2.
    struct Vector: Sendable {
        let encrypted, key, vector, sha256, plain: String
    }

    private static let vectors = [
        Vector(
            encrypted: "", key: String(repeating: "A", count: 43), vector: "AAAAAAAAAAAAAAAAAAAAAA",
            sha256: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", plain: ""),
        Vector(
            encrypted: "5xJZTt5cQicm+9f4", key: String(repeating: "_", count: 42) + "8",
            vector: "//////////8AAAAAAAAAAA", sha256: "YzF08lARDdOCzJpzuSwsjTNlQc4pHxpdHcXiD/wpK6k",
            plain: "SGVsbG8sIFdvcmxk"),
        Vector(
            encrypted: "zhtFStAeFx0s+9L/sSQO+WQMtldqYEHqTxMduJrCIpnkyer09kxJJuA4K+adQE4w+7jZe/vR9kIcqj9rOhDR8Q",
            key: String(repeating: "_", count: 42) + "8", vector: "//////////8AAAAAAAAAAA",
            sha256: "IOq7/dHHB+mfHfxlRY5XMeCWEwTPmlf4cJcgrkf6fVU",
            plain: "YWxwaGFudW1lcmljYWxseWFscGhhbnVtZXJpY2FsbHlhbHBoYW51bWVyaWNhbGx5YWxwaGFudW1lcmljYWxseQ"),
    ]

    private func json(_ vector: Vector) -> String {
        """
        {"file": {"v": "v2", "url": "mxc://example.org/abc", "iv": "\(vector.vector)",
         "key": {"kty": "oct", "alg": "A256CTR", "ext": true, "key_ops": ["encrypt", "decrypt"], "k": "\(vector.key)"},
         "hashes": {"sha256": "\(vector.sha256)"}}}
        """
    }

    private func decode(_ json: String) throws -> MatrixFile {
        try JSONDecoder().decode(MatrixFile.self, from: Data(json.utf8))
    }

    private func data(_ text: String) throws -> Data {
        try #require(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)))
    }

    @Test(arguments: vectors) func `The published test vectors are decrypted`(vector: Vector) throws {
        let decryption = MatrixDecryption(file: try decode(json(vector)))
        let encrypted = [UInt8](try data(vector.encrypted))
        try decryption.verify(SHA256.hash(data: encrypted).hexadecimal)
        #expect(try decryption.plain(encrypted, at: 0) == data(vector.plain))
        // In a file, and block by block.
        let folder = try TemporaryFolder()
        let descriptor = open(try folder.write(encrypted, to: "file"), O_RDWR)
        defer { close(descriptor) }
        let sha256 = try decryption.run(descriptor, bytes: encrypted.count, deadline: .now + .seconds(10))
        #expect(sha256 == SHA256.hash(data: try data(vector.plain)).hexadecimal)
        #expect(try Data(contentsOf: URL(filePath: folder.path("file"))) == data(vector.plain))
        let last = encrypted.count / 16 * 16
        #expect(try decryption.plain(Array(encrypted[last...]), at: last) == data(vector.plain).dropFirst(last))
    }

    @Test func `The counter carries over into the initialization vector`() throws {
        let wide = Vector(
            encrypted: "", key: Self.vectors[0].key, vector: "AAAAAAAAAAD//////////w",
            sha256: Self.vectors[0].sha256, plain: "")
        let decryption = MatrixDecryption(file: try decode(json(wide)))
        let whole = try decryption.plain([UInt8](repeating: 0, count: 80), at: 0)
        for block in 0..<5 {
            let piece = try decryption.plain([UInt8](repeating: 0, count: 16), at: block * 16)
            #expect(piece == whole.dropFirst(block * 16).prefix(16))
        }
    }

    @Test(arguments: [
        ("\"v2\"", "\"v1\""), ("\"oct\"", "\"RSA\""), ("A256CTR", "A128CTR"), ("\"ext\": true", "\"ext\": false"),
        ("\"encrypt\", \"decrypt\"", "\"encrypt\""), ("____8", "____"), ("____8", "____8="), ("____8", "____9"),
        ("____8", "___/8"), ("AAAAA\",", "AAAA\","), ("AAAAA\",", "AAAAA==\","), ("\"sha256\"", "\"sha512\""),
        ("YzF08l", "YzF0 l"), ("\"file\":", "\"other\": 1, \"file\":"), ("\"iv\":", "\"vi\":"),
    ])
    func `An object that is not exact is refused`(text: String, replacement: String) throws {
        let valid = json(Self.vectors[1])
        #expect(try decode(valid).key == [UInt8](repeating: 0xFF, count: 32))
        let changed = valid.replacing(text, with: replacement)
        #expect(changed != valid)
        #expect(throws: (any Error).self) { try decode(changed) }
    }

    @Test func `A request is encoded as it was written, and its digest knows the key`() throws {
        let line = "{\"source\": \"https://m.example/a\", \"matrix\": \(json(Self.vectors[1]))}"
        let request = try JSONDecoder().decode(AttachmentRequest.self, from: Data(line.utf8))
        let again = try JSONDecoder().decode(AttachmentRequest.self, from: JSONEncoder().encode(request))
        #expect(request.matrix != nil && again == request)
        var other = request
        other.matrix = nil
        #expect(try RequestIdentity(request, localState: nil).digest != RequestIdentity(other, localState: nil).digest)
    }

    @Test func `Another file than that of the hash is media.corrupt`() throws {
        let decryption = MatrixDecryption(file: try decode(json(Self.vectors[1])))
        let error = #expect(throws: AttachPrepError.self) { try decryption.verify(String(repeating: "0", count: 64)) }
        #expect(error?.code == .mediaCorrupt)
    }

    @Test func `An mxc address names the URL to give`() {
        let error = #expect(throws: AttachPrepError.self) { try WebAddress("mxc://example.org/abc") }
        #expect(error?.code == .sourceSchemeNotAllowed && error?.message.contains("media/download") == true)
    }
}
