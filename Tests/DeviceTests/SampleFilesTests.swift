import Foundation
import TestSupport
import Testing

/// What of the sample is not compiled: property lists, and the README's list of its parts.
struct SampleFilesTests {
    private func propertyList(_ name: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: SourceTree.path("samples/NotificationService/\(name)")))
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        return try #require(list as? [String: Any])
    }

    @Test func `Info.plist names the class that iOS calls, and leaves http refused`() throws {
        let list = try propertyList("Info.plist")
        let entry = try #require(list["NSExtension"] as? [String: String])
        #expect(entry["NSExtensionPointIdentifier"] == "com.apple.usernotifications.service")
        #expect(entry["NSExtensionPrincipalClass"] == "$(PRODUCT_MODULE_NAME).NotificationService")
        #expect(list["NSAppTransportSecurity"] == nil)
    }

    @Test func `The privacy manifest gives a reason for what it names`() throws {
        let list = try propertyList("PrivacyInfo.xcprivacy")
        let types = try #require(list["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        #expect(types.count == 2)
        #expect(types.allSatisfy { !(($0["NSPrivacyAccessedAPITypeReasons"] as? [String])?.isEmpty ?? true) })
    }

    @Test func `The README names every file`() throws {
        let folder = SourceTree.path("samples/NotificationService")
        let readme = try String(contentsOfFile: folder + "/README.md", encoding: .utf8)
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".swift") {
            #expect(readme.contains("`\(file.dropLast(6))`"), "\(file) is not named")
        }
    }
}
