/// A stream as it is there, for people who look after it.
package struct StreamStanding: Sendable, Hashable {
    package var messages: Int
    /// On each server's disk.
    package var bytes: Int
    /// Copies that it is to have.
    package var replicas: Int
    /// The server that decides; nil when there is none now.
    package var leader: String?
    /// Servers whose copy is behind, or that are not there.
    package var late: [String]

    init(_ found: StreamInformation) {
        messages = found.state?.messages ?? 0
        bytes = found.state?.bytes ?? 0
        replicas = found.config.num_replicas
        leader = found.cluster?.leader
        late = (found.cluster?.replicas ?? []).filter { !$0.current || $0.offline == true }.map(\.name)
    }
}
