import AttachPrepPages
import Testing

@Suite("The dashboard's files")
struct DashboardFilesTests {
    @Test("The page names each of its files, and nothing of anybody else's")
    func names() {
        let page = String(decoding: Dashboard.page.bytes, as: UTF8.self)
        for file in Dashboard.files { #expect(page.contains("\"/assets/\(file.name)\"")) }
        #expect(!page.contains("://"))
    }
}
