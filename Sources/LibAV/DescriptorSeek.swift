import CLibAV
import Glibc

/// What libav's seek callback asks of a file of that size: moves the position, or only says the size.
///
/// - Returns: The new position, the size for `AVSEEK_SIZE`, or a negative code.
func seek(_ position: inout Int64, size: Int64, to offset: Int64, from whence: CInt) -> Int64 {
    let base: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return size
    case SEEK_SET: base = 0
    case SEEK_CUR: base = position
    case SEEK_END: base = size
    default: return Int64(clamping: CLibAV_errorInvalidArgument)
    }
    let (target, overflow) = base.addingReportingOverflow(offset)
    if overflow || target < 0 { return Int64(clamping: CLibAV_errorInvalidArgument) }
    position = target
    return target
}
