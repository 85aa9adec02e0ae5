import Foundation
import TestSupport
import Testing

/// The sample's files that are not compiled: property lists, and the list of files in the README.
struct SampleFilesTests {
    private func propertyList(_ name: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: SourceTree.path("samples/NotificationService/\(name)")))
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        return try #require(list as? [String: Any])
    }

    @Test func `Info.plist names the extension's class and does not allow http`() throws {
        let list = try propertyList("Info.plist")
        let entry = try #require(list["NSExtension"] as? [String: String])
        #expect(entry["NSExtensionPointIdentifier"] == "com.apple.usernotifications.service")
        #expect(entry["NSExtensionPrincipalClass"] == "$(PRODUCT_MODULE_NAME).NotificationService")
        #expect(list["NSAppTransportSecurity"] == nil)
    }

    @Test func `The privacy manifest gives a reason for every API`() throws {
        let list = try propertyList("PrivacyInfo.xcprivacy")
        let types = try #require(list["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        #expect(types.count == 2)
        #expect(types.allSatisfy { !(($0["NSPrivacyAccessedAPITypeReasons"] as? [String])?.isEmpty ?? true) })
    }

    @Test(arguments: ["", "/App"]) func `The README lists every source file`(subfolder: String) throws {
        let folder = SourceTree.path("samples/NotificationService\(subfolder)")
        let readme = try String(contentsOfFile: folder + "/README.md", encoding: .utf8)
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".swift") {
            #expect(readme.contains("`\(file.dropLast(6))`"), "\(file) is not named")
        }
    }
}
