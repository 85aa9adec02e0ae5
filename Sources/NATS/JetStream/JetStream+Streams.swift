extension JetStream {
    /// Makes a stream that is not there, and checks one that is: nothing that an operator has made is changed.
    ///
    /// How long things are kept, on how many servers and how many bytes of them is the operator's to choose.
    /// - Throws: `NATSError.refused` when it cannot be made; `StreamMismatch` when another stream has its name.
    package func ensure(_ shape: StreamShape) async throws {
        if try await standing(shape) == nil { try await make(shape) }
    }

    /// How a stream is; nil when it is not there.
    ///
    /// - Throws: `StreamMismatch` when another stream has its name.
    package func standing(_ shape: StreamShape) async throws -> StreamStanding? {
        do {
            let found: StreamInformation = try await ask("STREAM.INFO.\(shape.name)")
            try Self.check(found.config, against: shape)
            return StreamStanding(found)
        } catch let error as NATSError where error.isRefusal(NATSError.Number.streamNotFound) {
            return nil
        }
    }

    /// How many messages a stream has.
    package func messageCount(_ name: String) async throws -> Int {
        let found: StreamInformation = try await ask("STREAM.INFO.\(name)")
        return found.state?.messages ?? 0
    }

    /// Empties a stream.
    package func purge(_ name: String) async throws {
        let _: StreamPurge = try await ask("STREAM.PURGE.\(name)")
    }

    /// Removes all that a stream has on a subject.
    func purge(_ name: String, subject: String) async throws {
        let _: StreamPurge = try await ask("STREAM.PURGE.\(name)", SubjectPurge(filter: subject))
    }

    private func make(_ shape: StreamShape) async throws {
        do {
            try await make(shape, replicas: shape.replicas ?? Self.replicasOfCluster)
        } catch let error as NATSError
            where error.isRefusal(NATSError.Number.replicasNeedCluster) && shape.replicas == nil
        {
            try await make(shape, replicas: 1)
        } catch NATSError.refused(_, let number, let text, let operation)
            where [NATSError.Number.replicasNeedCluster, NATSError.Number.noSuitablePeers].contains(number)
        {
            throw NATSError.tooFewServers(
                replicas: shape.replicas ?? Self.replicasOfCluster, number: number, text: text, operation: operation)
        }
    }

    /// Survives the loss of any one server.
    private static let replicasOfCluster = 3

    private func make(_ shape: StreamShape, replicas: Int) async throws {
        // Another process that makes the same one at the same time is no error.
        let made: StreamInformation = try await ask(
            "STREAM.CREATE.\(shape.name)", StreamConfiguration(shape, replicas: replicas))
        try Self.check(made.config, against: shape)
    }

    /// What our work rests on; pure.
    static func check(_ found: StreamConfiguration, against shape: StreamShape) throws {
        let differences = [
            (found.subjects ?? []).sorted() == shape.subjects.sorted() ? nil : "subjects",
            found.retention == shape.retention ? nil : "retention",
            (found.max_msgs_per_subject ?? -1) == (shape.countPerSubject ?? -1) ? nil : "max_msgs_per_subject",
            !shape.allowsRollUp || found.allow_rollup_hdrs == true ? nil : "allow_rollup_hdrs",
            shape.retention == .limits || (found.max_age ?? 0) == 0 ? nil : "max_age",
            found.discard == "new" ? nil : "discard",
        ].compactMap(\.self)
        guard differences.isEmpty else { throw StreamMismatch(name: shape.name, differences: differences) }
    }
}

/// A stream or consumer is there, but is not what we need.
package struct StreamMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    package var name: String
    /// The settings that differ, in the API's words.
    package var differences: [String]

    package var description: String { "\(name) has other \(differences.joined(separator: ", "))" }
}

private struct StreamPurge: Decodable {
    var purged: Int
}

private struct SubjectPurge: Encodable {
    var filter: String
}
