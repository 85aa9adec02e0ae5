/// Spans and moments made of numbers from outside: `Duration` and clocks trap on overflow, as integers do.
extension Duration {
    /// The longest span that these initializers make: a century. Two of them added to any moment of a clock still fit.
    package static let longest = Duration.seconds(100 * 365.25 * 86_400)

    /// So many seconds, at most `longest` in either direction; zero for NaN.
    package static func seconds(clamping seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        let bound = longest / .seconds(1)
        return .seconds(Swift.min(Swift.max(seconds, -bound), bound))
    }

    /// So many seconds, at most `longest` in either direction.
    package static func seconds(clamping seconds: Int) -> Duration {
        let bound = longest.components.seconds
        return .seconds(Swift.min(Swift.max(Int64(seconds), -bound), bound))
    }

    /// So many milliseconds, at most `longest` in either direction.
    package static func milliseconds(clamping milliseconds: Int) -> Duration {
        let bound = longest.components.seconds * 1_000
        return .milliseconds(Swift.min(Swift.max(Int64(milliseconds), -bound), bound))
    }
}
