import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct BrowserComplaintTests {
    @Test func `A sound page has no complaint, and its requests are listed`() async throws {
        let (server, page) = try await opened("<p>sound <script>console.log('hello')</script>")
        #expect(page.complaints.isEmpty)
        #expect(page.requests.filter { !$0.hasPrefix("data:") } == [server.url("/")])
    }

    @Test func `What the console is told and nobody catches is a complaint`() async throws {
        let (server, page) = try await opened(
            """
            <script>
            console.error('lost', 3, true); console.warn('old')
            setTimeout(() => { throw new RangeError('too far') })
            Promise.reject(new Error('unkept'))
            setTimeout(() => document.title = 'done', 20)
            </script>
            """)
        try await page.waits(until: "document.title === 'done'")
        let complaints = page.complaints
        #expect(complaints.contains(BrowserComplaint(kind: .console, text: "lost 3.0 true", url: server.url("/"))))
        #expect(complaints.contains { $0.kind == .console && $0.text == "old" })
        for text in ["RangeError: too far", "Error: unkept"] {
            #expect(complaints.contains { $0.kind == .exception && $0.text.hasPrefix(text) })
        }
        page.forget()
        #expect(page.complaints.isEmpty && page.requests.isEmpty)
    }

    @Test func `A file that does not come is a complaint`() async throws {
        let (server, page) = try await opened("<img src=/cat.jpg>")
        try await askUntil("a complaint of the picture") { page.complaints.contains { $0.kind == .browser } }
        #expect(page.complaints.map(\.url) == [server.url("/cat.jpg")])
    }

    @Test func `A broken content security policy is a complaint`() async throws {
        let (_, page) = try await opened(
            "<script>document.title = 'run'</script>", headers: ["Content-Security-Policy": "default-src 'self'"])
        try await askUntil("a complaint of the policy") { !page.complaints.isEmpty }
        #expect(page.complaints.contains { $0.text.contains("Content Security Policy") })
        #expect(try await page.evaluate("document.title") == "A page")
    }

    @Test func `Requests of frames and workers are listed, and a stranger's host is never reached`() async throws {
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
        try await page.waits(until: "document.title === 'done'")
        let expected = [server.url("/in-frame"), server.url("/in-worker"), "http://192.0.2.1/", "http://cdn.example/"]
        // Workers report in their own time.
        try await askUntil("all of \(expected) in \(page.requests)") { Set(expected).isSubset(of: page.requests) }
    }
}
