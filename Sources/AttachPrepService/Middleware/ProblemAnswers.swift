import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RichPush

/// Makes a problem of each error; what is not ours to tell goes to the log.
struct ProblemAnswers: RouterMiddleware {
    typealias Context = ServiceContext

    let endpoints: [Endpoint]

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            var problem = problem(of: error, request: request, context: context)
            problem.instance = "urn:attachprep:request:\(context.requestID)"
            var response = problem.response
            if request.method == .head { response = response.createHeadResponse() }
            return response
        }
    }

    private func problem(of error: any Error, request: Request, context: ServiceContext) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as AttachPrepError: return known(error, context: context)
        case let error as HTTPError where error.status == .notFound: return unknownPath(request)
        case is HTTPParserError:
            return Problem(.requestInvalid, "The request's body came incomplete or is not framed as HTTP/1.1 says.")
        case is ChannelError, is CancellationError:
            return Problem(.requestInvalid, "The connection ended before the request did.")
        default:
            context.logger.error("A request failed.", metadata: ["error": "\(error)"])
            return Problem(.internal, "The service failed; its log says more under this request's id.")
        }
    }

    private func known(_ error: AttachPrepError, context: ServiceContext) -> Problem {
        if error.code.httpStatus >= 500 {
            context.logger.error("A request failed.", metadata: ["error": "\(error)"])
        } else if let detail = error.detail {
            context.logger.info(
                "A request was refused.", metadata: ["error": "\(error.code.rawValue)", "detail": "\(detail)"])
        }
        let problem = Problem(error)
        return switch error.code {
        case .queueFull: problem.retrying(after: 5)
        case .queueUnavailable, .outputNoSpace: problem.retrying(after: 10)
        default: problem
        }
    }

    private func unknownPath(_ request: Request) -> Problem {
        guard let allowed = endpoints.allowed(at: request.uri.path) else {
            return Problem(.requestNotFound, "There is nothing at this path; /openapi.json lists what there is.")
        }
        var problem = Problem(
            .requestInvalid,
            "This path does not take the method \(request.method.rawValue.prefix(20)); it takes \(allowed).",
            status: 405)
        problem.fields[.allow] = allowed
        return problem
    }
}
