/// Whether a place that a service works with does what it is there for, as far as is known.
struct PlaceHealth: Sendable, Hashable {
    /// Nil when it was not tried yet.
    var isHealthy: Bool?
    /// What is in the way, in a sentence.
    var reason: String?

    static let unknown = PlaceHealth()
    static let good = PlaceHealth(isHealthy: true)

    static func fault(_ reason: String) -> PlaceHealth { PlaceHealth(isHealthy: false, reason: reason) }

    /// Good, unless there is a reason why not.
    init(reason: String?) {
        self.init(isHealthy: reason == nil, reason: reason)
    }

    init(isHealthy: Bool? = nil, reason: String? = nil) {
        (self.isHealthy, self.reason) = (isHealthy, reason)
    }
}
