import FuzzSupport
import PeerSupport

/// Scripts an S3 endpoint and a webhook receiver from an input: correct responses, S3 errors in XML, and false ones.
final class EndpointScript {
    private let script: HostileScript
    private let manifest: String
    private let sha256: String

    init(_ input: FuzzInput, port: UInt16, manifest: String, sha256: String) {
        script = HostileScript(input, port: port)
        self.manifest = manifest
        self.sha256 = sha256
    }

    var sendsForeignBytes: Bool { script.facts.hasForeignBytes }

    func steps(for event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        guard event.kind == .request else { return script.steps(for: event) }
        return switch script.input.byte() % 16 {
        case 0...6: good(event)
        case 7...10: rejection(event)
        case 11: [.pause(milliseconds: Int(script.input.byte()))] + good(event)
        case 12: script.steps(for: event)
        default: script.lie(event)
        }
    }

    private func answer(
        _ status: String, _ fields: String, _ body: String, _ event: ScriptedPeer.Event
    ) -> [ScriptedPeer.Step] {
        let hasBody = event.method != "HEAD" && !status.hasPrefix("204")
        let length = status.hasPrefix("204") ? "" : "Content-Length: \(body.utf8.count)\r\n"
        let bytes = Array("HTTP/1.1 \(status)\r\n\(length)\(fields)\r\n\(hasBody ? body : "")".utf8)
        let choices = script.input.byte()
        // Truncated, or the last response of the connection.
        if choices & 0xF0 == 0xF0 { return [.bytes(Array(bytes.prefix(Int(choices & 15) * 24))), .close] }
        return choices & 0xF0 == 0xE0 ? [.bytes(bytes), .close] : [.bytes(bytes)]
    }

    private func good(_ event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        switch event.method {
        case "PUT": return answer("200 OK", "ETag: \"\(word(0))9bb58f26192e4ba00f01e2e7b136bbd8\"\r\n", "", event)
        case "HEAD": return answer("200 OK", "x-amz-meta-sha256: \(sha256)\(word(0))\r\n", "", event)
        case "DELETE": return answer("204 No Content", "", "", event)
        case "GET": return answer("200 OK", "Content-Type: application/json\r\n", manifest, event)
        case _ where event.target.contains("uploads="):
            let body =
                "\(xml)<InitiateMultipartUploadResult><Bucket>b</Bucket><UploadId>\(word(0))VXBsb2Fk</UploadId>"
                + "</InitiateMultipartUploadResult>"
            return answer("200 OK", "", body, event)
        case _ where event.target.contains("uploadId="):
            let result = "CompleteMultipartUploadResult"
            return answer("200 OK", "", "\(xml)<\(result)><ETag>\"x-2\"</ETag></\(result)>", event)
        default: return answer("204 No Content", "", "", event)
        }
    }

    /// An empty text, or one that is invalid in its context.
    private func word(_ fallback: Int) -> String {
        let words = [
            "", "<", "&lt;", "&#x0;", "\"", "\r\nX-Injected: y", "\u{1B}[31m", "../..", "?a=b&c=d", "%0d%0a", "é",
            String(repeating: "A", count: 3_000), "<![CDATA[", "<!--", "]]>", "&amp;amp;", " ", "\u{0}",
        ]
        return words[Int(script.input.byte()) % words.count]
    }

    private func rejection(_ event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        let statuses = [403, 404, 400, 301, 307, 409, 500, 503, 429, 410, 200, 412, 416, 501, 599, 200]
        let codes = [
            "NoSuchBucket", "NoSuchUpload", "NoSuchKey", "SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken",
            "RequestTimeTooSkewed", "AuthorizationHeaderMalformed", "PermanentRedirect", "SlowDown", "InternalError",
            "AccessDenied", "InvalidBucketName", "XAmzContentSHA256Mismatch", "EntityTooLarge", "",
        ]
        let status = statuses[Int(script.input.byte()) % statuses.count]
        let code = codes[Int(script.input.byte()) % codes.count]
        let regions = ["eu-west-1", "us-east-1", "", "../x", String(repeating: "e", count: 300), "é"]
        let region = regions[Int(script.input.byte()) % regions.count]
        var fields = ""
        let choices = script.input.byte()
        if choices & 1 != 0 { fields += "Retry-After: \(script.number(near: 0))\r\n" }
        if choices & 2 != 0 { fields += "Date: \(date())\r\n" }
        if choices & 4 != 0 { fields += "x-amz-bucket-region: \(region)\r\n" }
        if choices & 8 != 0 { fields += "ETag: \"\(word(0))\"\r\n" }
        if choices & 16 != 0 { fields += "Location: http://169.254.169.254/\r\n" }
        let open = String(repeating: "<a>", count: choices & 32 != 0 ? Int(script.input.byte()) * 90 : 0)
        let body =
            "\(open)<Error><Code>\(code)</Code><Message>\(word(0))</Message><Region>\(region)</Region></Error>"
        return answer("\(status) S3", fields, body, event)
    }

    private func date() -> String {
        let dates = [
            "Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT",
            "Mon, 99 Foo 99999999999999999999 99:99:99 GMT", "Sun, 00 Jan 0000 00:00:00 GMT",
            "Sat, 01 Jan -9223372036854775808 00:00:00 GMT", "Sat, 01 Jan 292277026596 15:30:08 GMT", "",
        ]
        return dates[Int(script.input.byte()) % dates.count]
    }
}
