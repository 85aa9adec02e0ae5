/// How a bucket of values or of objects has to be: made so when it is not there.
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

    /// The stream that a bucket of values is, as NATS' own tools know it.
    package var stream: StreamShape {
        var shape = stream("KV_\(name)", subjects: ["$KV.\(name).>"])
        shape.countPerSubject = 1
        return shape
    }

    /// The stream that a bucket of objects is: their chunks, and what they are.
    package var objectStream: StreamShape {
        stream("OBJ_\(name)", subjects: ["$O.\(name).C.>", "$O.\(name).M.>"])
    }

    private func stream(_ name: String, subjects: [String]) -> StreamShape {
        var shape = StreamShape(name, subjects: subjects, description: description)
        shape.age = age
        shape.allowsRollUp = true
        shape.replicas = replicas
        return shape
    }
}
