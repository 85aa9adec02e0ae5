/// How a bucket of objects has to be: made so when it is not there.
package struct ObjectBucketShape: Sendable, Hashable {
    package var name: String
    package var description: String
    /// What was put in so long ago goes; nil keeps it.
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
        var shape = StreamShape(
            "OBJ_\(name)", subjects: ["$O.\(name).C.>", "$O.\(name).M.>"], description: description)
        shape.age = age
        shape.allowsRollUp = true
        shape.replicas = replicas
        return shape
    }
}
