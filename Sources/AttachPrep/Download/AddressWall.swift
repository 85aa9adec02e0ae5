/// Which addresses one downloader, or one sender of calls, may talk to.
package struct AddressWall: Sendable, Hashable {
    /// Nothing is refused: the operator allows the private network, or a proxy does the checking.
    package var isOpen: Bool
    /// Addresses let through although the table refuses them; for tests, whose servers stand on loopback.
    package var exempt: Set<IPAddress>
    /// Networks of the operator's that are let through although the table refuses them.
    package var networks: [AddressBlock]

    package init(isOpen: Bool = false, exempt: Set<IPAddress> = [], networks: [AddressBlock] = []) {
        self.isOpen = isOpen
        self.exempt = exempt
        self.networks = networks
    }

    /// Why an address is refused; nil when it is not.
    package func refusal(of address: IPAddress) -> RefusedAddressRange? {
        if isOpen || exempt.contains(address) || networks.contains(where: { $0.contains(address) }) { return nil }
        return RefusedAddressRanges.verdict(for: address)
    }

    /// Whether an address in text may be used; what cannot be read is refused.
    func allows(_ text: String) -> Bool {
        guard let address = IPAddress(text) else { return isOpen }
        return refusal(of: address) == nil
    }
}
