import Glibc

/// A descriptor that is closed when this object is released.
final class OwnedDescriptor: Sendable {
    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
