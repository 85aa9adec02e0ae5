/// Who works next: as many renders at a time as media slots, and one worker more for quick questions. Pure.
///
/// A quick question may use any worker; renders leave one of them free, so that a render never delays a refusal. Idle
/// workers are taken last in, first out: the one with a warm child before one that has none yet.
struct SlotSchedule {
    /// A call in line.
    struct Waiter: Hashable {
        let number: Int
        let isRender: Bool
    }

    /// A call and the worker it was given.
    struct Grant: Hashable {
        let waiter: Int
        let worker: Int
    }

    private let mediaSlots: Int
    /// From what is taken last to what is taken first: workers without a child, with one that loads, with a warm one.
    private var idle: [(worker: Int, isWarm: Bool)]
    private var renders = 0
    private var line: [Waiter] = []

    init(mediaSlots: Int) {
        self.mediaSlots = mediaSlots
        idle = (0...mediaSlots).reversed().map { ($0, false) }
    }

    /// Puts a call in line and returns what can begin now.
    mutating func enter(_ waiter: Waiter) -> [Grant] {
        line.append(waiter)
        return grants()
    }

    /// Gives a render a worker at once, or none: only where nobody waits and a warm one is idle.
    mutating func takeIfFree() -> Int? {
        guard line.isEmpty, renders < mediaSlots, let last = idle.last, last.isWarm else { return nil }
        idle.removeLast()
        renders += 1
        return last.worker
    }

    /// Takes a call out of line; false when it had begun already or never came.
    mutating func leave(_ number: Int) -> Bool {
        guard let place = line.firstIndex(where: { $0.number == number }) else { return false }
        line.remove(at: place)
        return true
    }

    /// A worker is free again; returns what can begin now.
    ///
    /// - Parameter isWarm: whether its child can begin at once: one that still loads is taken last.
    mutating func release(worker: Int, isRender: Bool, isWarm: Bool = true) -> [Grant] {
        precondition(!idle.contains { $0.worker == worker }, "a worker is released once")
        if isRender { renders -= 1 }
        let place = isWarm ? nil : idle.firstIndex { $0.isWarm }
        idle.insert((worker, isWarm), at: place ?? idle.endIndex)
        return grants()
    }

    private mutating func grants() -> [Grant] {
        var grants: [Grant] = []
        while let worker = idle.last?.worker, let place = nextPlace {
            let waiter = line.remove(at: place)
            idle.removeLast()
            if waiter.isRender { renders += 1 }
            grants.append(Grant(waiter: waiter.number, worker: worker))
        }
        return grants
    }

    /// Quick questions before renders, each in the order of their coming.
    private var nextPlace: Int? {
        line.firstIndex { !$0.isRender } ?? (renders < mediaSlots ? line.indices.first : nil)
    }
}
