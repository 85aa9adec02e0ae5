import AttachPrep
import AttachPrepJobs
import Foundation
import MediaEngine
import RichPush
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

/// The enums, limits and patterns in `openapi.json` are those of the code. When a test fails, change the document.
struct OpenAPIValueTests {
    /// A JSON pointer and the expected strings; nil stands for null.
    struct Strings: Sendable, CustomTestStringConvertible {
        let pointer: String
        let values: [String?]

        var testDescription: String { pointer }

        init(_ pointer: String, _ values: [String?]) {
            (self.pointer, self.values) = ("/components/schemas/\(pointer)", values)
        }

        init<Value: RawRepresentable & CaseIterable>(
            _ pointer: String, _ type: Value.Type, isNullable: Bool = false,
            where isIncluded: (Value) -> Bool = { _ in true }
        ) where Value.RawValue == String {
            self.init(pointer, type.allCases.filter(isIncluded).map(\.rawValue) + (isNullable ? [nil] : []))
        }
    }

    /// A JSON pointer and the expected number.
    struct Number: Sendable, CustomTestStringConvertible {
        let pointer: String
        let value: Double

        var testDescription: String { pointer }

        init(_ pointer: String, _ value: Double) { (self.pointer, self.value) = (pointer, value) }
        init(_ pointer: String, _ value: Int) { self.init(pointer, Double(value)) }
    }

    /// A JSON pointer and the phrase that the text there contains.
    struct Phrase: Sendable, CustomTestStringConvertible {
        let pointer: String
        let phrase: String

        var testDescription: String { pointer }

        init(_ pointer: String, _ phrase: String) { (self.pointer, self.phrase) = (pointer, phrase) }
    }

    static let enums = [
        Strings("Problem/properties/code", ErrorCode.self),
        Strings("JobState", JobState.self),
        Strings("RetryOrder/properties/states/items", JobState.self, where: \.isRetryable),
        Strings("PurgeOrder/properties/states/items", JobState.self, where: \.isFinished),
        Strings("CancelOrder/properties/states/items", JobState.self, where: { !$0.isFinished }),
        Strings("PauseOrder/properties/lane", JobPriority.self, isNullable: true),
        Strings("PriorityOrder/properties/priority", JobPriority.self),
        Strings("Action/properties/kind", OperatorAction.Kind.self),
        Strings("Session/properties/roles/items", Caller.Role.self),
        Strings("WebhookState", WebhookState.self),
        Strings("Webhook/properties/type", WebhookNotice.Event.self),
        Strings("WebhookEvent/properties/type", WebhookNotice.Event.self, where: { $0 != .batchDone }),
        Strings("AttachmentRequest/properties/priority", JobPriority.self, isNullable: true),
        Strings("Manifest/properties/outcome", Outcome.self),
        Strings("Manifest/properties/warnings/items/properties/code", PreparationWarning.Code.self),
        Strings("Manifest/properties/attachment/oneOf/1/properties/kind", MediaKind.self),
        Strings("PayloadSubmission/properties/dialect", PayloadDialect.all.map(\.name) + [nil]),
        Strings("PayloadResult/properties/warnings/items/properties/code", PayloadWarning.Code.self),
        Strings("PayloadResult/properties/warnings/items/properties/level", PayloadWarning.Level.self),
        Strings("Receipt/properties/outcome", PushReceiptReport.Outcome.self),
        Strings("Overview/properties/queue/properties/kind", ServiceStatus.QueueKind.self),
    ]

    @Test(arguments: enums) func `An enum lists the values of its type`(row: Strings) throws {
        let listed = try #require(try OpenAPIFile().value("\(row.pointer)/enum") as? [Any])
        #expect(listed.map { $0 as? String } == row.values)
    }

    static let members = [
        Strings("JobNumbers/properties/jobs", JobState.self),
        Strings("Overview/properties/jobs", JobState.self),
        Strings("Batch/properties/states", JobState.self),
        Strings("Overview/properties/webhooks", WebhookState.self),
        Strings("Campaign/properties/outcomes", PushReceiptReport.Outcome.self),
    ]

    @Test(arguments: members) func `An object of counts has a member for each value of its type`(row: Strings) throws {
        let schema = try OpenAPIFile().object(row.pointer)
        let names = Set(row.values.compactMap(\.self))
        #expect(Set(try #require(schema["properties"] as? [String: Any]).keys) == names)
        #expect(Set(try #require(schema["required"] as? [String])) == names)
    }

    @Test func `A result file can have each media type that iOS attaches`() throws {
        // The last one is never sent: client generators that do not know the others treat the file as bytes.
        let types = Set(AttachmentType.allCases.map(\.mimeType) + ["application/octet-stream"])
        for status in ["200", "206"] {
            let content = "/paths/~1media~1{id}~1{file}/get/responses/\(status)/content"
            #expect(Set(try OpenAPIFile().object(content).keys) == types)
        }
    }

    @Test func `The timings of a manifest are those that it encodes`() throws {
        let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(ManifestTimings()))
        let names = Set(try #require(encoded as? [String: Any]).keys)
        #expect(
            Set(try OpenAPIFile().object("/components/schemas/Manifest/properties/timings/properties").keys) == names)
    }

    private static let request = "/components/schemas/AttachmentRequest/properties"
    private static let receipt = "/components/schemas/Receipt/properties"
    private static let minutes = "/components/schemas/JobPace/properties/minutes"

    static let limits = [
        Number("\(request)/source/maxLength", Limits.urlBytesMax),
        Number("\(request)/callbackURL/maxLength", Limits.urlBytesMax),
        Number("/components/schemas/Manifest/properties/schema/const", Manifest.currentSchema),
        Number("/components/parameters/Limit/schema/maximum", Limits.pageCountMax),
        Number("/components/parameters/Limit/schema/default", Limits.pageCount),
        Number("/components/parameters/JobSearch/schema/maxLength", Limits.searchCharactersMax),
        Number("/components/schemas/RetryOrder/properties/search/maxLength", Limits.searchCharactersMax),
        Number("/components/schemas/PurgeOrder/properties/search/maxLength", Limits.searchCharactersMax),
        Number("/paths/~1v1~1jobs/post/parameters/0/schema/maxLength", Limits.idempotencyKeyCharactersMax),
        Number("/components/schemas/PayloadSubmission/properties/recipients/maximum", Limits.dispatchRecipientsMax),
        Number("/components/parameters/CampaignName/schema/maxLength", Limits.campaignNameCharactersMax),
        Number("/components/schemas/Campaign/properties/name/maxLength", Limits.campaignNameCharactersMax),
        Number("/components/schemas/Receipts/maxItems", Limits.receiptsMax),
        Number("\(receipt)/attachSeconds/maximum", Limits.receiptAttachSecondsMax),
        Number("\(receipt)/ageSeconds/maximum", Limits.receiptAgeSecondsMax),
        Number("\(minutes)/minItems", JobPace.minutesCount),
        Number("\(minutes)/maxItems", JobPace.minutesCount),
        Number("/components/schemas/History/properties/hours/minItems", JobPace.hoursCount),
        Number("/components/schemas/History/properties/hours/maxItems", JobPace.hoursCount),
        Number("/components/schemas/SessionOrder/properties/token/maxLength", Limits.tokenBytesMax),
    ]

    @Test(arguments: limits) func `A limit in a schema is that of the code`(row: Number) throws {
        #expect(try OpenAPIFile().number(row.pointer) == row.value)
    }

    private static func json(_ value: Any?) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: try #require(value), options: .sortedKeys)
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `The options of a request are those of the code, also in a payload submission`() throws {
        let dump = Data(try AttachmentRequest.schemas().utf8)
        let schemas = try #require(try JSONSerialization.jsonObject(with: dump) as? [String: [String: Any]])
        let document = try OpenAPIFile()
        let submission = "/components/schemas/PayloadSubmission/properties/request/properties"
        let places = [
            ("AttachmentRequest", Self.request), ("AttachmentRequest", submission),
            ("Options", "/components/schemas/Options/properties"),
        ]
        for (name, pointer) in places {
            let listed = try document.object(pointer)
            for (key, schema) in try #require(schemas[name]) {
                #expect(
                    try Self.json(listed[key]) == Self.json(schema),
                    "\(pointer)/\(key): run `make docs-update`, and build again")
            }
        }
    }

    static let lengths = [
        Number("\(receipt)/token/pattern", ReceiptToken.charactersCount),
        Number("\(receipt)/id/pattern", Limits.receiptNameCharactersMax),
        Number("/components/schemas/PayloadSubmission/properties/campaign/pattern", Limits.campaignNameCharactersMax),
        Number("/paths/~1v1~1jobs/post/parameters/0/schema/pattern", Limits.idempotencyKeyCharactersMax),
    ]

    @Test(arguments: lengths) func `A pattern matches as many characters as the code accepts`(row: Number) throws {
        let document = try OpenAPIFile()
        let longest = String(repeating: "a", count: Int(row.value))
        #expect(try document.pattern(row.pointer, matches: longest))
        #expect(!(try document.pattern(row.pointer, matches: "\(longest)a")))
    }

    private static let jobs = "/paths/~1v1~1jobs/post"
    private static let ids = "At most \(Limits.selectedIDsMax.grouped)"
    private static let wait = "at most \(Int(Limits.preferredWaitSecondsMax)),"
    private static let listeners = "/paths/~1v1~1events/get/description"

    static let phrases = [
        Phrase("\(jobs)/description", "up to \(Limits.batchRequestsMax.grouped) as JSON Lines"),
        Phrase("\(jobs)/parameters/1/description", wait),
        Phrase("/components/parameters/WaitForJob/description", wait),
        Phrase("/components/schemas/RetryOrder/properties/ids/description", ids),
        Phrase("/components/schemas/PurgeOrder/properties/ids/description", ids),
        Phrase("/components/schemas/ReplayOrder/properties/ids/description", ids),
        Phrase(listeners, "every \(Int(Limits.eventHeartbeatSeconds)) s"),
        Phrase(listeners, "\(Limits.eventBacklogMax.grouped) events"),
        Phrase(listeners, "\(Limits.eventListenersMax) concurrent listeners"),
        Phrase("/paths/~1v1~1receipts/post/description", "up to \(Limits.receiptsMax)."),
        Phrase("/paths/~1v1~1uploads/post/description", "at most \(Limits.sourceBytesMax.grouped) bytes"),
        Phrase("/paths/~1v1~1session/post/description", "\(Limits.sessionSecondsMax / 3600) hours"),
        Phrase(
            "/components/schemas/PayloadResult/properties/payload/description",
            "at most \(Limits.payloadBytesMax.grouped) bytes"),
        Phrase("/webhooks/job.dead/post/description", "up to \(Limits.webhookScheduleSeconds.count) times"),
    ]

    @Test(arguments: phrases) func `A limit in a text is that of the code`(row: Phrase) throws {
        #expect(try OpenAPIFile().text(row.pointer).contains(row.phrase))
    }

    @Test func `A header that the service sets itself is excluded from the headers of a request, in any case`() throws {
        let document = try OpenAPIFile()
        let excluded = "\(Self.request)/headers/propertyNames/not/pattern"
        for name in RequestHeaders.reserved {
            for spelling in [name, name.uppercased(), name.capitalized] {
                #expect(try document.pattern(excluded, matches: spelling), "\(spelling)")
            }
        }
        #expect(try document.text(excluded).split(separator: "|").count == RequestHeaders.reserved.count)
    }
}
