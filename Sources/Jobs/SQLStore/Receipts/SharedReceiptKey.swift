public import AttachPrepJobs
import FoundationEssentials

extension SQLJobStore {
    /// The key that signs receipts on all machines: a sealed row, which the first machine writes.
    ///
    /// - Throws: `queue.unavailable`.
    public func receiptKey() async throws -> ReceiptKey {
        let (name, new) = ("receipt_key", ReceiptKey.random())
        let sealed = try secrets.stored(new.base64, for: name)
        try await write { transaction in
            transaction.later(
                "INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                [.text(name), .text(sealed)])
        }
        let stored = try await read { try $0.row("SELECT value FROM setting WHERE name = $1", [.text(name)]) }
        guard let text: String = stored?[0], let key = ReceiptKey(base64: try secrets.opened(text, for: name)) else {
            throw StorageErrors.unreadable("the key of receipts")
        }
        return key
    }
}
