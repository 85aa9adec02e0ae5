import RichPush
import SafeArithmetic

/// When a child that works is replaced all the same: pure.
enum ChildRecycling: Hashable {
    /// Not yet.
    case none
    /// When its successor is ready.
    case inTurn
    /// Now: with the next file on top it could go over the limit, and the file would be blamed.
    case atOnce

    /// - Parameter residentBytes: after its last call; nil when it has ended.
    init(calls: Int, age: Duration, residentBytes: Int?) {
        if let residentBytes, residentBytes > Limits.childIdleMemoryBytesMax {
            self = .atOnce
        } else if calls >= Limits.childCallsMax || age >= .seconds(clamping: Limits.childAgeSecondsMax) {
            self = .inTurn
        } else {
            self = .none
        }
    }
}
