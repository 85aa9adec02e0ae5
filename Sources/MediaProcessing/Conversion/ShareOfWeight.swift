/// How much of a movie lies before a time, by what its parts weigh.
struct ShareOfWeight: Sendable {
    private let times: [Double]
    private let sums: [Double]

    /// - Parameter weights: In order of time; only what is before `end` counts.
    init(_ weights: [(time: Double, bytes: Int)], end: Double = .infinity) {
        var sum = 0.0
        var (times, sums): ([Double], [Double]) = ([], [])
        for weight in weights where weight.time < end {
            sum += Double(weight.bytes)
            times.append(weight.time)
            sums.append(sum)
        }
        self.times = times
        self.sums = sums
    }

    /// From 0 to 1.
    // Bounded throughout: places in lists.
    func share(before time: Double) -> Double {
        guard let total = sums.last, total > 0 else { return 0 }
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? 0 : sums[low - 1] / total
    }
}
