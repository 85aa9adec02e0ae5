/// Which addresses one downloader may talk to.
package struct AddressWall: Sendable, Hashable {
    /// Nothing is refused: the operator allows the private network, or a proxy does the checking.
    package var isOpen: Bool
    /// Addresses let through although the table refuses them; for tests, whose servers stand on loopback.
    package var exempt: Set<IPAddress>

    package init(isOpen: Bool = false, exempt: Set<IPAddress> = []) {
        self.isOpen = isOpen
        self.exempt = exempt
    }

    /// Why an address is refused; nil when it is not.
    package func refusal(of address: IPAddress) -> RefusedAddressRange? {
        isOpen || exempt.contains(address) ? nil : RefusedAddressRanges.verdict(for: address)
    }

    /// Whether an address in text may be used; what cannot be read is refused.
    func allows(_ text: String) -> Bool {
        guard let address = IPAddress(text) else { return isOpen }
        return refusal(of: address) == nil
    }
}
