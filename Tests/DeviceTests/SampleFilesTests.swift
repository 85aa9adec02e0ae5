import Foundation
import TestSupport
import Testing

/// The files for apps that are not compiled: property lists, the table of settings.
struct SampleFilesTests {
    private func propertyList(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: SourceTree.path(path)))
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        return try #require(list as? [String: Any])
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: SourceTree.path(path), encoding: .utf8)
    }

    @Test func `Info.plist names the extension's class and does not allow http`() throws {
        let list = try propertyList("samples/NotificationService/Info.plist")
        let entry = try #require(list["NSExtension"] as? [String: String])
        #expect(entry["NSExtensionPointIdentifier"] == "com.apple.usernotifications.service")
        #expect(entry["NSExtensionPrincipalClass"] == "$(PRODUCT_MODULE_NAME).NotificationService")
        #expect(list["NSAppTransportSecurity"] == nil)
    }

    @Test func `The content extension's Info.plist names its class and hides what iOS would draw`() throws {
        let entry = try #require(
            try propertyList("samples/NotificationContent/Info.plist")["NSExtension"] as? [String: Any])
        #expect(entry["NSExtensionPrincipalClass"] as? String == "$(PRODUCT_MODULE_NAME).NotificationViewController")
        let attributes = try #require(entry["NSExtensionAttributes"] as? [String: Any])
        #expect(attributes["UNNotificationExtensionDefaultContentHidden"] as? Bool == true)
        #expect(attributes["UNNotificationExtensionCategory"] as? String == "media")
    }

    @Test func `The privacy manifest gives a reason for every API`() throws {
        let list = try propertyList("Sources/Payloads/RichPushExtension/PrivacyInfo.xcprivacy")
        let types = try #require(list["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        #expect(types.count == 2)
        #expect(types.allSatisfy { !(($0["NSPrivacyAccessedAPITypeReasons"] as? [String])?.isEmpty ?? true) })
    }

    @Test func `The package's README lists every setting of the Info.plist, and the sample sets no other`() throws {
        let source = try text("Sources/Payloads/RichPushExtension/RichPushSettings.swift")
        let keys = source.matches(of: /values\["(\w+)"\]/).map { String($0.1) }
        let readme = try text("Packages/RichPush/README.md")
        #expect(keys.count >= 4)
        for key in keys { #expect(readme.contains("| `\(key)`"), "\(key) is not listed") }
        let set = try propertyList("samples/NotificationService/Info.plist")["RichPush"] as? [String: Any]
        #expect(Set(try #require(set).keys).isSubset(of: keys))
    }

    @Test func `The sample is what an app writes: at most 30 lines`() throws {
        #expect(try text("samples/NotificationService/NotificationService.swift").split(separator: "\n").count <= 30)
    }
}
