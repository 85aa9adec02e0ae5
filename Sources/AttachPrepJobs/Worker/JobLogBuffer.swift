import Logging
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Lines of jobs' logs on their way to be kept, many at a time.
final class JobLogBuffer: Sendable {
    private let store: any JobCatalogue
    private let lines = Mutex<[JobLogLine]>([])

    init(_ store: any JobCatalogue) {
        self.store = store
    }

    func add(_ line: JobLogLine) {
        lines.withLock { lines in
            lines.append(line)
            if lines.count > Limits.jobLogBacklogMax { lines.removeFirst(lines.count - Limits.jobLogBacklogMax) }
        }
    }

    /// Keeps what is there; when that fails it stays, and nobody's work fails for it.
    func flush() async {
        let taken = lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
        guard !taken.isEmpty else { return }
        do {
            try await store.append(taken)
        } catch {
            lines.withLock { $0 = Array((taken + $0).suffix(Limits.jobLogBacklogMax)) }
        }
    }
}
