import Glibc
import RichPush

/// What a media process wrote, in a file that no media process has open.
///
/// One that a file took over could keep its descriptor, and change what was delivered long after it was hashed. So the
/// bytes are copied while they are hashed, and the copy takes the place of the original.
enum SealedOutput {
    /// - Parameters:
    ///   - descriptor: the file that was written to.
    ///   - name: its name, which then is the copy's.
    /// - Throws: `output.no_space`, `output.not_writable`.
    static func seal(_ descriptor: CInt, as name: String, in staging: StagingFolder) throws -> HashedCopy {
        let sealed = "\(name).sealed"
        do {
            let target = try staging.create(sealed)
            defer { close(target) }
            let copy = try HashedCopy(of: descriptor, to: target)
            try staging.rename(sealed, to: name)
            return copy
        } catch {
            try staging.remove(sealed)
            if let failure = error as? HashedCopy.ReadFailure { throw OutputFailure.error(failure.code) }
            throw error
        }
    }
}
