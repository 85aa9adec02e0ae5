import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct BrowserIssueTests {
    @Test func `A valid page has no issues, and its requests are listed`() async throws {
        let (server, page) = try await opened("<p>valid <script>console.log('hello')</script>")
        #expect(page.issues.isEmpty)
        #expect(page.requests.filter { !$0.hasPrefix("data:") } == [server.url("/")])
    }

    @Test func `Console errors and uncaught exceptions are issues`() async throws {
        let (server, page) = try await opened(
            """
            <script>
            console.error('lost', 3, true); console.warn('old')
            setTimeout(() => { throw new RangeError('too far') })
            Promise.reject(new Error('unkept'))
            setTimeout(() => document.title = 'done', 20)
            </script>
            """)
        try await page.wait(until: "document.title === 'done'")
        let issues = page.issues
        #expect(issues.contains(BrowserIssue(kind: .console, text: "lost 3.0 true", url: server.url("/"))))
        #expect(issues.contains { $0.kind == .console && $0.text == "old" })
        for text in ["RangeError: too far", "Error: unkept"] {
            #expect(issues.contains { $0.kind == .exception && $0.text.hasPrefix(text) })
        }
        page.clearEvents()
        #expect(page.issues.isEmpty && page.requests.isEmpty)
    }

    @Test func `A file that fails to load is an issue`() async throws {
        let (server, page) = try await opened("<img src=/cat.jpg>")
        try await pollUntil("an issue of the image") { page.issues.contains { $0.kind == .browser } }
        #expect(page.issues.map(\.url) == [server.url("/cat.jpg")])
    }

    @Test func `A violated content security policy is an issue`() async throws {
        let (_, page) = try await opened(
            "<script>document.title = 'run'</script>", headers: ["Content-Security-Policy": "default-src 'self'"])
        try await pollUntil("an issue of the policy") { !page.issues.isEmpty }
        #expect(page.issues.contains { $0.text.contains("Content Security Policy") })
        #expect(try await page.evaluate("document.title") == "A page")
    }

    @Test func `Requests of frames and workers are listed, and other hosts are never reached`() async throws {
        let (server, page) = try await opened(
            """
            <iframe src=/frame></iframe>
            <script>
            new Worker('/worker.js')
            fetch('http://192.0.2.1/').catch(() => fetch('http://cdn.example/')).catch(() => document.title = 'done')
            </script>
            """,
            with: [
                "/frame": .body(Data("<img src=/in-frame>".utf8), type: "text/html"),
                "/worker.js": .body(Data("fetch('/in-worker')".utf8), type: "text/javascript"),
            ])
        await server.until { server in
            ["/in-frame", "/in-worker"].allSatisfy { !server.requests(to: $0).isEmpty }
        }
        try await page.wait(until: "document.title === 'done'")
        let expected = [server.url("/in-frame"), server.url("/in-worker"), "http://192.0.2.1/", "http://cdn.example/"]
        // Workers report with a delay.
        try await pollUntil("all of \(expected) in \(page.requests)") { Set(expected).isSubset(of: page.requests) }
    }
}
