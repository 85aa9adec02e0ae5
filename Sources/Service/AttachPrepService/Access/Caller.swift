import AttachPrepModel
import MediaTypes
import SafeArithmetic

/// Who sends a request: the name of a token, and what it may do.
struct Caller: Sendable, Hashable {
    /// What a token may do; several tokens of a service can have different roles.
    enum Role: String, Sendable, Hashable, CaseIterable {
        /// Submit jobs, payloads and uploads, and see, cancel and retry jobs of its own.
        case submit
        /// See all jobs, webhooks and figures.
        case read
        /// Pause, purge, replay webhooks, and act on the jobs of others and on many at once.
        case operate
    }

    /// From the token file, else the first half of the token's digest in hexadecimal.
    var name: String
    var roles: Set<Role>

    /// The caller of a service without tokens.
    static let local = Caller(name: "local", roles: Set(Role.allCases))

    /// Reads what follows a token on its line: `name=NAME` and `roles=ROLE,ROLE`; other words are a comment.
    ///
    /// - Parameters:
    ///   - words: the rest of the line.
    ///   - fallback: the name without `name=`.
    /// - Throws: `request.invalid`.
    init(words: String, fallback: String) throws {
        (name, roles) = (fallback, Set(Role.allCases))
        for word in words.split(whereSeparator: \.isWhitespace) {
            if word.hasPrefix("name=") { name = try Self.checked(name: String(word.dropFirst(5))) }
            if word.hasPrefix("roles=") { roles = try Self.roles(in: word.dropFirst(6)) }
        }
    }

    private init(name: String, roles: Set<Role>) {
        (self.name, self.roles) = (name, roles)
    }

    private static func checked(name: String) throws -> String {
        guard (1...Limits.callerNameCharactersMax).contains(name.utf8.count), name != local.name,
            name.utf8.allSatisfy({ byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || "._-".utf8.contains(byte)
            })
        else {
            throw AttachPrepError(
                .requestInvalid,
                "The name \"\(MessageText.excerpt(name, bytesMax: 80))\" of a token is not 1 to "
                    + "\(Limits.callerNameCharactersMax) letters, digits, dots, dashes and underscores, or is "
                    + "\"\(local.name)\".")
        }
        return name
    }

    private static func roles(in list: Substring) throws -> Set<Role> {
        Set(
            try list.split(separator: ",", omittingEmptySubsequences: false).map { word in
                guard let role = Role(rawValue: String(word)) else {
                    let all = Role.allCases.map(\.rawValue).joined(separator: ", ")
                    throw AttachPrepError(
                        .requestInvalid,
                        "\"\(MessageText.excerpt(String(word), bytesMax: 80))\" is not a role of a token; write "
                            + "roles= with \(all), separated by commas.")
                }
                return role
            })
    }
}

extension Limits {
    /// Characters of a caller's name.
    static let callerNameCharactersMax = 32
}
