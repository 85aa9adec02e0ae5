import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import RichPush

/// A request's body, never more of it than is allowed.
struct RequestBytes {
    let request: Request
    let context: ServiceContext
    let bytesMax: Int

    /// - Throws: `request.too_large` for a declared length over the limit, 415 for a body that is packed: before any
    ///   of it is read.
    init(_ request: Request, _ context: ServiceContext, max bytesMax: Int) throws {
        (self.request, self.context, self.bytesMax) = (request, context, bytesMax)
        if let text = request.headers[.contentLength], let declared = Int(text), declared > bytesMax {
            throw Self.tooLarge(bytesMax)
        }
        if let coding = request.headers[.contentEncoding], coding.lowercased() != "identity" {
            throw Problem(.requestInvalid, "The body is packed (Content-Encoding); send it as it is.", status: 415)
        }
    }

    static func tooLarge(_ bytesMax: Int) -> AttachPrepError {
        AttachPrepError(.requestTooLarge, "The request's body is larger than \(bytesMax) bytes; send less at a time.")
    }

    /// The media type of the body, in small letters and without parameters.
    var mediaType: String? {
        request.headers[.contentType]?.prefix { $0 != ";" }.trimmingSpaces().lowercased()
    }

    /// The pieces as they come.
    func pieces() -> RequestBody {
        context.channel.triggerUserOutboundEvent(BodyWanted(), promise: nil)
        return request.body
    }

    /// All of it.
    ///
    /// - Throws: `request.too_large`.
    func all() async throws -> [UInt8] {
        do {
            return Array(buffer: try await pieces().collect(upTo: bytesMax))
        } catch is NIOTooManyBytesError {
            throw Self.tooLarge(bytesMax)
        }
    }
}
