import RichPush
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

struct PayloadSubmissionTests {
    private func submission(_ recipients: String) throws -> PayloadSubmission {
        let payload = #"{"aps": {"mutable-content": 1}, "attach": "https://a.example/cat.jpg"}"#
        return try PayloadSubmission(Array(#"{"payload": \#(payload), "recipients": \#(recipients)}"#.utf8))
    }

    @Test(arguments: [("225", 225), ("225.0", 225), ("2e3", 2_000), ("null", 1)])
    func `a whole number of phones may be written in any way`(text: String, count: Int) throws {
        #expect(try submission(text).recipients == count)
    }

    @Test(arguments: ["0", "-1", "2.5", "1e300", "\"2\"", "true"])
    func `what is no number of phones is refused`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try submission(text) }
        #expect(error?.code == .requestInvalid)
    }
}
