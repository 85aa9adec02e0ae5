import Testing

@testable import RichPush

/// The suggestions for mistyped names.
struct EditDistanceTests {
    @Test(arguments: [("", "", 0), ("a", "", 1), ("serve", "serev", 1), ("serve", "worker", 4), ("jobs", "job", 1)])
    func `The distance counts added, removed, changed and swapped letters`(one: String, other: String, changes: Int) {
        #expect(EditDistance.distance(one, other) == changes)
    }
}
