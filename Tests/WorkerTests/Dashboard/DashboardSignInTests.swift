import Foundation
import TestSupport
import Testing

/// Signing in and out, and file names with markup.
@Suite(.timeLimit(.minutes(3))) struct DashboardSignInTests {
    private static let token = "a-token-of-more-than-sixteen-characters"

    private static func guarded() async throws -> DashboardBench {
        try await DashboardBench(environment: ["ATTACHPREP_TOKENS": token])
    }

    @Test func `A token signs in, and scripts cannot read what the browser stores`() async throws {
        let bench = try await Self.guarded()
        let page = try await bench.open()
        try await page.shows("Sign in")
        try await page.click("#token")
        try await page.type("not the token, but as long as one")
        try await page.press("Enter")
        try await page.wait(until: "document.querySelector('[role=alert]').textContent.length > 0")
        try await page.evaluate("document.getElementById('token').value = ''")
        try await page.click("#token")
        try await page.type(Self.token)
        try await page.press("Enter")
        try await page.shows("No jobs yet")
        let readable = try await page.evaluate(
            "document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.body.innerHTML")
        #expect(readable.text?.contains(Self.token) == false)
        #expect(try await page.evaluate("document.cookie") == "")
        try await page.open(bench.service.url)
        try await page.shows("No jobs yet")
    }

    @Test func `Typed characters of a token are kept when other requests of the page fail`() async throws {
        let bench = try await Self.guarded()
        let page = try await bench.open()
        try await page.click("#token")
        try await page.type("half a tok")
        try await page.evaluate("refreshOverview()")
        try await page.evaluate("document.dispatchEvent(new CustomEvent('signedout'))")
        #expect(try await page.evaluate("document.getElementById('token').value") == "half a tok")
        #expect(try await page.evaluate("document.activeElement.id") == "token")
    }

    @Test func `Sign out ends the session`() async throws {
        let bench = try await Self.guarded()
        let page = try await bench.open()
        try await page.click("#token")
        try await page.type(Self.token)
        try await page.press("Enter")
        try await page.press(button: "Sign out")
        try await page.shows("Sign in")
        #expect(try await page.evaluate("fetch('/v1/jobs').then(({ status }) => status)") == 401)
    }

    @Test(
        arguments: [
            "<img src=x onerror=alert(1)>.png", "\"><script>alert(2)</script>.png", "javascript:alert(3)",
            "';alert(4);'.png", "{{7*7}}${7*7}.png", "</title><svg onload=alert(5)>.png",
            "\u{202E}gnp.exe.png",
        ])
    func `Markup in a file name is shown as text`(name: String) async throws {
        let bench = try await DashboardBench()
        var unreserved = CharacterSet.alphanumerics
        unreserved.insert(charactersIn: ".-_")
        let encoded = try #require(name.addingPercentEncoding(withAllowedCharacters: unreserved))
        let job = try await bench.process("/\(encoded)")
        let queries = ["job=\(job.id)", "job=\(encoded)", "view=\(encoded)&search=\(encoded)&error=\(encoded)"]
        for path in ["/"] + queries.map({ "/?\($0)" }) {
            let page = try await bench.open(path)
            try await page.wait(until: "document.readyState === 'complete'")
            if path == "/" { try await page.shows(name, in: ".rows") }
            if path == "/?job=\(job.id)" { try await page.shows(name, in: "h1") }
            #expect(page.dialogs.isEmpty)
            #expect(try await page.evaluate("document.querySelectorAll('img[src=x], svg[onload]').length") == 0)
            #expect(
                page.issues.allSatisfy { $0.text.contains("404") || $0.text.contains("400") }, "\(page.issues)")
        }
    }
}
