/// The browser refused, a page's script threw, or what a test waited for never came.
public struct BrowserFailure: Error, CustomStringConvertible {
    public let description: String

    /// Whether the page went to another document while its script ran; asked there, it may well answer.
    var isNavigation: Bool {
        [
            "Inspected target navigated", "Execution context was destroyed", "Cannot find context",
            "Cannot find default execution context", "Promise was collected",
        ].contains { description.contains($0) }
    }
}
