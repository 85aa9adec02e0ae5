package import Foundation
package import RichPush

#if canImport(CryptoKit)
    import CryptoKit
#elseif canImport(Crypto)
    import Crypto
#endif

#if canImport(CryptoKit) || canImport(Crypto)
    /// Seals and opens the chunks of one file by AES-256-GCM, with a key that HKDF-SHA256 derives for the file.
    package struct SealedCipher: Sendable {
        package let layout: SealedLayout
        private let key: SymmetricKey
        private let authenticated: Data

        /// - Parameter salt: The `SealedLayout.saltBytes` random bytes of the file's header.
        package init(_ secret: SealedSecret, role: SealedRole, salt: Data, layout: SealedLayout) {
            self.layout = layout
            key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: secret.bytes), salt: salt, info: SealedLayout.info(role),
                outputByteCount: 32)
            authenticated = layout.authenticated(role)
        }

        /// The ciphertext of a chunk with its tag.
        package func seal(_ plaintext: Data, chunk index: Int) throws -> Data {
            let box = try AES.GCM.seal(
                plaintext, using: key, nonce: AES.GCM.Nonce(data: layout.nonce(ofChunk: index)),
                authenticating: authenticated)
            return box.ciphertext + box.tag
        }

        /// The plaintext of a chunk.
        ///
        /// - Throws: `SealedFileError.authentication` for a chunk of another file, role, place or length.
        package func open(_ sealed: Data, chunk index: Int) throws -> Data {
            do {
                let box = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: layout.nonce(ofChunk: index)),
                    ciphertext: sealed.dropLast(SealedLayout.tagBytes), tag: sealed.suffix(SealedLayout.tagBytes))
                return try AES.GCM.open(box, using: key, authenticating: authenticated)
            } catch {
                throw SealedFileError.authentication
            }
        }
    }
#endif
