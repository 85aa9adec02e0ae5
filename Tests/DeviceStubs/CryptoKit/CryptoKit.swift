// CryptoKit's implementation for other systems than Apple's, by Apple: no cipher or digest is written here.
@_exported import Crypto
