import Foundation
import Logging
import TestSupport
import Testing

@testable import AttachPrepService

@Suite struct ServiceLogHandlerTests {
    private let folder: TemporaryFolder
    private let descriptor: CInt

    init() throws {
        folder = try TemporaryFolder()
        descriptor = open(folder.path("log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
    }

    private func logger(_ format: ServeConfiguration.LogFormat, _ level: Logger.Level = .trace) -> Logger {
        let output = LogOutput(descriptor)
        return Logger(label: "test") { _ in
            ServiceLogHandler(format: format, logLevel: ProcessLogLevel(level), output: output) {
                Date(timeIntervalSince1970: 1_800_000_000.5)
            }
        }
    }

    private var text: String { get throws { try String(decoding: folder.bytes(of: "log"), as: UTF8.self) } }

    private var objects: [[String: String]] {
        get throws {
            try text.split(separator: "\n").map { line in
                try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
            }
        }
    }

    @Test func `A text line has time, level, message and sorted metadata`() throws {
        logger(.text).warning(
            "job failed", metadata: ["job": "0190", "error": "It is \"slow\".", "code": "a=b", "n": ""])
        let line = #"warning job failed code="a=b" error="It is \"slow\"." job=0190 n="""#
        #expect(try text == "2027-01-15T08:00:00.500Z \(line)\n")
    }

    @Test func `A JSON line is one object with flattened metadata`() throws {
        logger(.json).info(
            "done", metadata: ["job": "0190", "timings": ["total": "1.5", "stages": ["a", "b"]], "count": "\(3)"])
        #expect(
            try objects == [
                [
                    "time": "2027-01-15T08:00:00.500Z", "level": "info", "message": "done", "job": "0190", "count": "3",
                    "timings.total": "1.5", "timings.stages.0": "a", "timings.stages.1": "b",
                ]
            ])
    }

    @Test func `Numbers are numbers in a JSON line, and digits in a text are a text`() throws {
        let metadata: Logger.Metadata = [
            "count": .stringConvertible(3), "milliseconds": .stringConvertible(1.5), "id": "0190",
            "ratio": .stringConvertible(Double.nan), "nested": ["bytes": .stringConvertible(UInt64.max)],
        ]
        logger(.json).info("done", metadata: metadata)
        logger(.text).info("done", metadata: metadata)
        let lines = try text.split(separator: "\n")
        #expect(
            lines.first?.hasSuffix(
                #""count":3,"id":"0190","milliseconds":1.5,"nested.bytes":18446744073709551615,"ratio":"nan"}"#) == true
        )
        #expect(
            lines.last?.hasSuffix("count=3 id=0190 milliseconds=1.5 nested.bytes=18446744073709551615 ratio=nan")
                == true)
    }

    @Test(arguments: [
        "a\nb", "a\r\nb", "\u{1b}[2J", "\u{202e}abc", "\u{2028}", "\u{85}", "\0", "\t\"\\", "ü😀",
    ])
    func `Control characters are escaped, and JSON preserves the text`(text: String) throws {
        for format in ServeConfiguration.LogFormat.allCases {
            logger(format).error("\(text)", metadata: ["k\(text)": "\(text)"])
        }
        let lines = try self.text
        #expect(lines.unicodeScalars.count { $0 == "\n" } == 2 && lines.hasSuffix("\n"))
        let strange = lines.unicodeScalars.filter { scalar in
            [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        #expect(strange.count == 2)
        let json = try #require(lines.split(separator: "\n").first { $0.hasPrefix("{") })
        let object = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: String])
        #expect(object["message"] == text && object["k\(text)"] == text)
    }

    @Test func `Metadata cannot replace time, level or message`() throws {
        logger(.json).info("real", metadata: ["message": "false", "level": "none", "time": "never"])
        let object = try #require(try objects.first)
        #expect(object["message"] == "real" && object["message_"] == "false")
        #expect(object["level"] == "info" && object["time_"] == "never")
    }

    @Test func `Metadata of the message overrides that of the logger`() throws {
        var logger = logger(.json)
        logger[metadataKey: "job"] = "outer"
        logger[metadataKey: "worker"] = "w1"
        logger.info("x", metadata: ["job": "inner"])
        #expect(try objects.first?["job"] == "inner")
        #expect(try objects.first?["worker"] == "w1")
    }

    @Test func `Messages below the level are not written`() throws {
        let logger = logger(.text, .warning)
        logger.info("no")
        logger.warning("yes")
        #expect(try text.split(separator: "\n").count == 1)
    }

    @Test func `Lines from several threads do not interleave`() async throws {
        let logger = logger(.json)
        let long = String(repeating: "x", count: 2_000)
        await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<50 { logger.info("\(long)", metadata: ["number": "\(number)"]) }
                }
            }
        }
        let objects = try objects
        #expect(objects.count == 400)
        #expect(objects.allSatisfy { $0["message"] == long })
    }

    @Test(arguments: ["text", "json"]) func `A long value is cut, and control characters are escaped`(format: String)
        throws
    {
        let logger = logger(format == "json" ? .json : .text)
        let controls = (Array(UInt32(0)..<0x20) + Array(0x7F...0x9F)).compactMap(Unicode.Scalar.init).map(String.init)
        logger.info("m", metadata: ["a": "\(controls.joined())", "b": "\(String(repeating: "x", count: 99_999))"])
        let line = try text
        #expect(line.utf8.count < 4_000)
        #expect(line.unicodeScalars.filter { $0.properties.generalCategory == .control } == ["\n"])
    }

    @Test func `A write error is ignored`() {
        close(descriptor)
        logger(.text).info("lost")
    }
}
