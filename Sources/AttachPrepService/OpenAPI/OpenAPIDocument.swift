import NIOCore

enum OpenAPIDocument { static let bytes = ByteBuffer(string: "{}") }
