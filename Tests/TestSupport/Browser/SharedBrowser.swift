import Foundation
import Synchronization

/// One browser for all tests of a run: each page in it has cookies and storage of its own. It ends with the process.
public actor SharedBrowser {
    private static let shared = SharedBrowser()
    private static let running = Mutex<Browser?>(nil)
    private var started: Task<Browser, any Error>?

    /// The browser, started by whoever asks first.
    public static func get() async throws -> Browser { try await shared.browser() }

    private static func end() {
        guard let browser = running.withLock({ $0 }) else { return }
        browser.close()
        try? FileManager.default.removeItem(at: browser.folder.url)
    }

    private func browser() async throws -> Browser {
        if let started { return try await started.value }
        let task = Task {
            let browser = try await Browser.start()
            Self.running.withLock { $0 = browser }
            // Nothing of ours is let go of when a process exits: its profile would stay.
            atexit { SharedBrowser.end() }
            return browser
        }
        started = task
        return try await task.value
    }
}
