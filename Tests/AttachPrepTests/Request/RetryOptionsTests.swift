import Foundation
import MediaTypes
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// The JSON of `retry`.
@Suite struct RetryOptionsTests {
    private func request(_ retry: String, _ more: String = "") throws -> AttachmentRequest {
        let json = #"{"source": "https://cdn.example/a.jpg", "retry": \#(retry)\#(more)}"#
        let request = try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: ""))
        try request.validate()
        return request
    }

    @Test(arguments: RetryOptions.Preset.allCases) func `A policy is named`(preset: RetryOptions.Preset) throws {
        #expect(try request("\"\(preset.rawValue)\"").jobOptions.retry == RetryOptions(preset))
        #expect(try request(#"{"policy": "\#(preset.rawValue)"}"#).jobOptions.retry == RetryOptions(preset))
    }

    @Test func `Every key is read, and written as it was`() throws {
        let json = #"""
            {"attempts":20,"backOff":2.5,"backOffMax":60,"notThereYet":[403,404],"on":["network","notThereYet"],\#
            "policy":"patient","until":"2030-01-01T00:00:00.000Z"}
            """#
        let options = try #require(try request(json).jobOptions.retry)
        #expect(options.attempts == 20 && options.backOffSeconds == 2.5 && options.backOffSecondsMax == 60)
        #expect(options.statuses == [403, 404] && options.causes == [.network, .notThereYet])
        #expect(try JSONEncoder.singleLine.text(options) == json)
        #expect(try JSONEncoder.singleLine.text(RetryOptions(.patient)) == #""patient""#)
    }

    @Test func `Retries do not change what a request makes`() throws {
        let (plain, patient) = (try request("null"), try request(#""patient""#))
        #expect(
            try RequestIdentity(plain, localState: nil).digest == RequestIdentity(patient, localState: nil).digest)
    }

    @Test(arguments: [
        (#""slow""#, #""retry" has the unknown name "slow"; give one of fast, patient."#),
        (#"{"policy": "slow"}"#, #""policy" of "retry" has the unknown name "slow"; give one of fast, patient."#),
        (#"{"on": ["weather"]}"#, #""on" of "retry" has the unknown name "weather"; give one of network, server, "#),
        (#"{"tries": 3}"#, #"unknown key "retry.tries""#),
        (#"{"attempts": 0}"#, #""attempts" of "retry" is 0, outside of 1 to 1000"#),
        (#"{"backOff": 0.01}"#, #""backOff" of "retry" is 0.01 s"#),
        (#"{"backOff": 60, "backOffMax": 10}"#, #""backOffMax" of "retry" is shorter than "backOff""#),
        (#"{"notThereYet": [500]}"#, "only 403, 404 and 410 can mean that"),
        (#"{"until": "tomorrow"}"#, "is not an RFC 3339 time"),
    ])
    func `What is wrong is refused with a sentence`(json: String, sentence: String) {
        let error = #expect(throws: AttachPrepError.self) { try request(json) }
        #expect(error?.code == .requestInvalid && error?.message.contains(sentence) == true, "\(error?.message ?? "")")
    }

    @Test func `Attempts do not go on after notAfter`() {
        let error = #expect(throws: AttachPrepError.self) {
            try request(#"{"until": "2030-01-02T00:00:00Z"}"#, #", "notAfter": "2030-01-01T00:00:00Z""#)
        }
        #expect(error?.message.contains("later than \"notAfter\"") == true)
    }

    @Test func `A setting is a name or an object`() throws {
        #expect(try RetryOptions(text: "patient") == RetryOptions(.patient))
        #expect(try RetryOptions(text: #"{"attempts": 3}"#).attempts == 3)
        for text in ["slow", "{", "[]", #"{"attempts": "three"}"#] {
            #expect(throws: AttachPrepError.self) { try RetryOptions(text: text) }
        }
    }

    @Test func `A batch that is not a service's has no retries`() throws {
        let options = try request(#""fast""#).jobOptions
        #expect(throws: AttachPrepError.self) { try options.rejectServiceOnlyOptions() }
    }
}
