/// How a bucket has to be: made so when it is not there.
package struct BucketShape: Sendable, Hashable {
    package var name: String
    package var description: String
    /// What was not changed for so long goes; nil keeps it.
    package var age: Duration?
    /// Servers that keep a copy; nil takes three from a cluster and one from a server alone.
    package var replicas: Int?

    package init(_ name: String, age: Duration? = nil, replicas: Int? = nil, description: String) {
        self.name = name
        self.age = age
        self.replicas = replicas
        self.description = description
    }

    /// The stream that it is, as NATS' own tools know it.
    package var stream: StreamShape {
        var shape = StreamShape("KV_\(name)", subjects: ["$KV.\(name).>"], description: description)
        shape.countPerSubject = 1
        shape.age = age
        shape.allowsRollUp = true
        shape.replicas = replicas
        return shape
    }
}
