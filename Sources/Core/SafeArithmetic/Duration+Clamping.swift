/// Durations from external numbers: `Duration` and clocks trap on overflow, like integers.
/// Not part of the package for apps (`Packages/RichPush`), because `Duration` came with iOS 16.
extension Duration {
    /// The longest duration that these functions return, 100 years. Adding it twice to any clock time does not
    /// overflow.
    package static let longest = Duration.seconds(100 * 365.25 * 86_400)

    /// A duration in seconds, clamped to ±`longest`; zero for NaN.
    package static func seconds(clamping seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        let bound = longest / .seconds(1)
        return .seconds(Swift.min(Swift.max(seconds, -bound), bound))
    }

    /// A duration in seconds, clamped to ±`longest`.
    package static func seconds(clamping seconds: Int) -> Duration {
        let bound = longest.components.seconds
        return .seconds(Swift.min(Swift.max(Int64(seconds), -bound), bound))
    }

    /// A duration in milliseconds, clamped to ±`longest`.
    package static func milliseconds(clamping milliseconds: Int) -> Duration {
        let bound = longest.components.seconds * 1_000
        return .milliseconds(Swift.min(Swift.max(Int64(milliseconds), -bound), bound))
    }
}
