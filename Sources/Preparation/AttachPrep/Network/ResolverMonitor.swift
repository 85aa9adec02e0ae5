internal import AttachPrepModel
internal import MediaTypes
internal import Synchronization

/// Resolves the names of sources, and finds out after a failure whether the name servers are away.
///
/// They are away only when nothing is answered: no name of a source, and none of the operator's probe names. That a
/// name does not exist is an answer; that the servers of one domain fail or are silent is the problem of that domain.
final class ResolverMonitor: NameResolver {
    private let resolver: any NameResolver
    private let probes: [String]
    private let timeout: Duration
    /// Number of answers so far.
    private let answers = Atomic(0)

    /// - Parameter probes: host names that resolve whenever the name servers can be reached.
    init(
        _ resolver: any NameResolver, probing probes: [String],
        timeout: Duration = .seconds(Limits.resolveSecondsMax)
    ) {
        (self.resolver, self.probes, self.timeout) = (resolver, probes, timeout)
    }

    func addresses(of host: String) async throws -> [IPAddress] {
        do {
            let addresses = try await resolver.addresses(of: host)
            answers.add(1, ordering: .relaxed)
            return addresses
        } catch NameResolutionError.unknownName {
            answers.add(1, ordering: .relaxed)
            throw NameResolutionError.unknownName
        }
    }

    /// Resolves the probe names.
    ///
    /// - Throws: `download.dns` when there are some, and until their time limit nothing was answered.
    func probe() async throws {
        guard !probes.isEmpty else { return }
        let before = answers.load(ordering: .relaxed)
        await withTaskGroup(of: Bool.self) { group in
            for name in probes {
                group.addTask {
                    _ = try? await self.addresses(of: name)
                    return false
                }
            }
            group.addTask {
                try? await ContinuousClock().sleep(for: self.timeout)
                return true
            }
            // The first answer is enough; without one, the last failure or the time limit ends the wait.
            var left = probes.count
            while answers.load(ordering: .relaxed) == before, left > 0, let isOver = await group.next(), !isOver {
                left -= 1
            }
            group.cancelAll()
        }
        guard answers.load(ordering: .relaxed) == before, !Task.isCancelled else { return }
        throw AttachPrepError(
            .downloadDNS,
            "No host name can be resolved, not even \(probes.joined(separator: ", ")); check the name servers of this "
                + "machine.")
    }
}
