/// What an engine is made of: for `attachprep doctor`.
public struct EngineDescription: Codable, Sendable, Hashable {
    /// A library and its version, as it reports itself at run time.
    public struct Library: Codable, Sendable, Hashable {
        public var name: String
        public var version: String

        public init(name: String, version: String) {
            self.name = name
            self.version = version
        }
    }

    /// Something the engine can or cannot do on this machine.
    public struct Ability: Codable, Sendable, Hashable {
        /// What a person calls it: `read HEIC`, `write JPEG`, `decode H.264`.
        public var name: String
        public var isAvailable: Bool
        /// The Debian package that brings it.
        public var package: String

        public init(name: String, isAvailable: Bool, package: String) {
            self.name = name
            self.isAvailable = isAvailable
            self.package = package
        }
    }

    public var libraries: [Library]
    public var abilities: [Ability]

    public init(libraries: [Library], abilities: [Ability]) {
        self.libraries = libraries
        self.abilities = abilities
    }
}
