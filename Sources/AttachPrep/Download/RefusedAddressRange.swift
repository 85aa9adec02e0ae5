/// A range of addresses that media never comes from.
package struct RefusedAddressRange: Hashable, Sendable {
    /// What the range is, in words.
    package let name: String
    /// Where that is written.
    package let reason: String
    /// The first address of the range.
    package let first: IPAddress
    /// How many leading bits of an address decide.
    package let prefixBits: Int

    /// - Parameter block: as the registries write it, "10.0.0.0/8".
    init(_ block: StaticString, _ name: String, _ reason: String) {
        let parts = block.description.split(separator: "/")
        guard parts.count == 2, let first = IPAddress(String(parts[0])), let bits = Int(parts[1]) else {
            preconditionFailure("\(block) is not an address block")
        }
        self.name = name
        self.reason = reason
        self.first = first
        prefixBits = bits
    }

    package func contains(_ address: IPAddress) -> Bool {
        switch (first, address) {
        // Bounded: our own table's lengths.
        case (.v4(let first), .v4(let address)): (first ^ address) >> (32 - prefixBits) == 0
        // Bounded: our own table's lengths.
        case (.v6(let first), .v6(let address)): (first ^ address) >> (128 - prefixBits) == 0
        default: false
        }
    }
}

extension RefusedAddressRange: CustomStringConvertible {
    package var description: String { "\(first)/\(prefixBits), \(name)" }
}
