import Synchronization

/// How jobs are claimed.
struct ClaimWish: Sendable, Hashable {
    var worker: String
    var lease: Duration
    var hostLimit: Int
}

/// Lets one claim of this machine's through at a time, since who claims looks at what the others have; those that come
/// meanwhile are one claim together, and share what it brings in the order of their coming.
final class ClaimDesk: Sendable {
    private struct Order {
        var wish: ClaimWish
        var count: Int
        var continuation: CheckedContinuation<[ClaimedJob], any Error>
    }

    private struct State {
        var orders: [Order] = []
        var isWorking = false
    }

    private let state = Mutex(State())

    /// - Parameter work: claims at most so many.
    func claim(
        _ count: Int, _ wish: ClaimWish, _ work: @escaping @Sendable (ClaimWish, Int) async throws -> [ClaimedJob]
    ) async throws -> [ClaimedJob] {
        guard count > 0 else { return [] }
        return try await withCheckedThrowingContinuation { continuation in
            let begins = state.withLock { state in
                state.orders.append(Order(wish: wish, count: count, continuation: continuation))
                defer { state.isWorking = true }
                return !state.isWorking
            }
            if begins { Task { await carryOut(work) } }
        }
    }

    private func carryOut(_ work: @Sendable (ClaimWish, Int) async throws -> [ClaimedJob]) async {
        while let orders = nextOrders(), let wish = orders.first?.wish {
            do {
                var jobs = try await work(wish, orders.map(\.count).reduce(0, +))[...]
                for order in orders {
                    order.continuation.resume(returning: Array(jobs.prefix(order.count)))
                    jobs = jobs.dropFirst(order.count)
                }
            } catch {
                for order in orders { order.continuation.resume(throwing: error) }
            }
        }
    }

    /// The first order, and all that wish the same.
    private func nextOrders() -> [Order]? {
        state.withLock { state in
            guard let wish = state.orders.first?.wish else {
                state.isWorking = false
                return nil
            }
            defer { state.orders.removeAll { $0.wish == wish } }
            return state.orders.filter { $0.wish == wish }
        }
    }
}
