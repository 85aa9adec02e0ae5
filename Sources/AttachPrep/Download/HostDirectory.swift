internal import Curl
internal import RichPush

/// Finds the addresses of a host and holds them against the wall: one bad address drops the whole answer.
struct HostDirectory: Sendable {
    let resolver: any NameResolver
    let overrides: ResolveOverrides
    let wall: AddressWall
    let timeout: Duration

    /// - Throws: `source.address_blocked`, `download.dns`, `deadline.exceeded`, `TemporaryNameFailure`, and
    ///   `CancellationError`.
    func look(up host: String, _ port: Int, before deadline: ContinuousClock.Instant) async throws -> PinnedHost {
        let addresses = try await addresses(of: host, port: port, deadline: deadline)
        for address in addresses {
            if let range = wall.refusal(of: address) { throw AttachPrepError.blocked(host, address, range) }
        }
        let tried = [addresses.filter(\.isIPv4), addresses.filter { !$0.isIPv4 }]
            .flatMap { $0.prefix(Limits.addressesTriedMax) }
        return PinnedHost(host: host, port: port, addresses: addresses.filter { tried.contains($0) })
    }

    private func addresses(
        of host: String, port: Int, deadline: ContinuousClock.Instant
    ) async throws -> [IPAddress] {
        if let literal = IPAddress(host) { return [literal] }
        if let answer = overrides.addresses(of: host, port: port) { return answer }
        do {
            // Bounded: a time limit of ours.
            let answer = try await ask(host, until: min(deadline, .now + timeout))
            guard !answer.isEmpty else { throw NameResolutionError.unknownName }
            return answer
        } catch is TimeIsUp {
            if ContinuousClock.now >= deadline { throw AttachPrepError.deadlineExceeded(host) }
            throw AttachPrepError.slowName(host, timeout)
        } catch let error as NameResolutionError {
            let failure = AttachPrepError.unresolved(host, error)
            if case .temporary = error { throw TemporaryNameFailure(error: failure) }
            throw failure
        }
    }

    private func ask(_ host: String, until end: ContinuousClock.Instant) async throws -> [IPAddress] {
        try await withThrowingTaskGroup(of: [IPAddress].self) { group in
            group.addTask { try await resolver.addresses(of: host) }
            group.addTask {
                try await ContinuousClock().sleep(until: end)
                throw TimeIsUp()
            }
            // Whoever is first decides: the answer, its error, or the clock. The other one is cancelled.
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    private struct TimeIsUp: Error {}
}

/// A name that may be resolved on the next try.
struct TemporaryNameFailure: Error {
    let error: AttachPrepError
}
