import Glibc
import NIOCore
import RichPush

/// Why the service cannot listen, in words.
enum BindFault {
    static func named(_ error: any Error, _ settings: ServiceSettings) -> any Error {
        let place = "\(settings.host):\(settings.port)"
        guard let error = error as? IOError else {
            guard error is SocketAddressError || "\(type(of: error))".contains("Address") else { return error }
            return AttachPrepError(
                .requestInvalid, "The service cannot listen on \(place): --host is no address of this machine.",
                detail: "\(error)")
        }
        let remedy =
            switch error.errnoCode {
            case EADDRINUSE: "another program has that port; choose another --port"
            case EACCES: "ports below 1024 need the right to them; choose another --port"
            case EADDRNOTAVAIL: "--host is no address of this machine"
            default: "see the log"
            }
        // What stands in its way is the machine's, and may pass: no wrong usage.
        return AttachPrepError(
            .internal, "The service cannot listen on \(place): \(remedy).", detail: "\(error)")
    }
}
