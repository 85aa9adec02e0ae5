import Synchronization

/// What happened in a page and in its frames and workers, written down as the browser reports it.
final class PageDiary: Sendable {
    private struct State {
        var complaints: [BrowserComplaint] = []
        var requests: [String] = []
        var dialogs: [String] = []
    }

    private let state = Mutex(State())

    var complaints: [BrowserComplaint] { state.withLock { $0.complaints } }
    var requests: [String] { state.withLock { $0.requests } }
    var dialogs: [String] { state.withLock { $0.dialogs } }

    func note(event: String, _ content: PageValue) {
        state.withLock { state in
            if let complaint = BrowserComplaint(event: event, content) { state.complaints.append(complaint) }
            if event == "Network.requestWillBeSent", let url = content["request"]["url"].text {
                state.requests.append(url)
            }
            if event == "Page.javascriptDialogOpening" { state.dialogs.append(content["message"].text ?? "") }
        }
    }

    func forget() {
        state.withLock { $0 = State() }
    }
}
