import Foundation
import RichPush
import Testing

/// The media at an app's own keys, also per language.
struct AppMediaKeysTests {
    private func urls(_ json: String, keys: [String], languages: [String] = []) throws -> [String?] {
        let payload = try PayloadValue(json: Array(json.utf8))
        return PushContent(payload: payload, mediaKeys: keys, languages: languages)?.attachments.map(\.url) ?? []
    }

    @Test func `The first key with media is used, before the format of a service`() throws {
        let json = #"{"attachment-url": "https://a.example/1.jpg", "b": {"c": "https://a.example/2.jpg"}}"#
        #expect(try urls(json, keys: ["a", "b.c"]) == ["https://a.example/2.jpg"])
        #expect(try urls(json, keys: ["a"]) == ["https://a.example/1.jpg"])
    }

    @Test func `The neutral object is used before an app's key`() throws {
        let json = #"{"attachprep": {"attachments": [{"url": "https://a.example/1.jpg"}]}, "b": "https://a.example/2"}"#
        #expect(try urls(json, keys: ["b"]) == ["https://a.example/1.jpg"])
    }

    @Test(arguments: [
        (["de-AT"], "de"), (["pt-BR", "de"], "pt_BR"), (["zh-Hant-TW"], "zh-Hant"), (["fr"], "default"),
        ([], "default"), (["", "-", "de"], "de"),
    ])
    func `The media of the first of the user's languages is used`(languages: [String], name: String) throws {
        let members = ["default", "de", "pt_BR", "zh-Hant"].map { #""\#($0)": "https://a.example/\#($0)""# }
        let json = #"{"photo": {\#(members.joined(separator: ", "))}}"#
        #expect(try urls(json, keys: ["photo"], languages: languages) == ["https://a.example/\(name)"])
    }

    @Test func `Keys and languages over the limit are not tried`() throws {
        let json = #"{"b": {"en": "https://a.example/2.jpg"}}"#
        #expect(try urls(json, keys: (1...20).map(String.init) + ["b.en"]) == [])
        #expect(try urls(json, keys: ["b"], languages: (1...8).map { "x\($0)" } + ["en"]) == [])
    }
}
