import Glibc
import RichPush
import Synchronization

/// The credentials of now: files are read again when they have changed, since temporary ones are written anew.
final class CredentialBook: Sendable {
    private struct Page {
        var stamps: [FileStamp?]
        var profile: AWSProfile
    }

    private let environment: [String: String]
    private let paths: [String]
    private let page = Mutex(Page?.none)

    init(environment: [String: String]) {
        self.environment = environment
        paths = [
            Self.path(environment.value("AWS_SHARED_CREDENTIALS_FILE") ?? "~/.aws/credentials", environment),
            Self.path(environment.value("AWS_CONFIG_FILE") ?? "~/.aws/config", environment),
        ]
    }

    /// What both files say under the profile's name; a file that is not there says nothing.
    var profile: AWSProfile {
        let stamps = paths.map { FileStamp($0) }
        return page.withLock { page in
            if let page, page.stamps == stamps { return page.profile }
            let files = paths.map { AWSProfileFile(Self.text(of: $0)) }
            let profile = AWSProfile(
                AWSProfile.name(in: environment).name, credentials: files[0], configuration: files[1])
            page = Page(stamps: stamps, profile: profile)
            return profile
        }
    }

    /// - Throws: `publish.denied` when there are none.
    func credentials() throws(AttachPrepError) -> AWSCredentials {
        try CredentialDecision.credentials(
            environment, profile, isProfileAsked: AWSProfile.name(in: environment).isAsked)
    }

    /// Empty for one that cannot be read; a longer one than anybody has is cut.
    private static func text(of path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < Limits.profileFileBytesMax {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress, buffer.count)
            }
            guard count > 0 else { break }
            // Bounded: lists.
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func path(_ written: String, _ environment: [String: String]) -> String {
        guard written.hasPrefix("~/"), let home = environment.value("HOME") else { return written }
        // Bounded: text.
        return home + written.dropFirst()
    }
}
