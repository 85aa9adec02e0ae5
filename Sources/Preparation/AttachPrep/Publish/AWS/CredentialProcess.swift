import AttachPrepModel
import FoundationEssentials
import Linux
import MediaTypes
import SafeArithmetic
import Synchronization

/// A program that prints credentials (`credential_process` of a profile).
///
/// <https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>
struct CredentialProcess: Sendable, Hashable {
    /// The command line, for the shell.
    let command: String
    /// The name of the profile, for messages: command lines may contain secrets.
    let profile: String

    /// Runs the program and reads its output. Its standard error is not kept, since it may contain secrets.
    ///
    /// - Throws: `publish.denied` when the program fails or prints anything else, `publish.unavailable` when it takes
    ///   too long, `cancelled`.
    func credentials(
        _ client: CredentialClient, secondsMax: Double = Limits.credentialProcessSecondsMax
    ) async throws -> IssuedCredentials {
        let service = "the program of the profile \"\(profile)\""
        let result: ProgramOutput
        do {
            result = try await run(client.environment, until: .now + .seconds(clamping: secondsMax))
        } catch let error as SystemError {
            throw CredentialError.invalid(service, reason: "it did not start", detail: "\(error)")
        }
        switch result.stop {
        case .cancelled: throw AttachPrepError.cancelled
        case .deadline:
            throw CredentialError.unavailable(service, reason: "it did not end within \(Int(clamping: secondsMax)) s")
        case .outputTooLong:
            throw CredentialError.invalid(
                service, reason: "its output exceeds \(Limits.credentialResponseBytesMax.grouped) bytes")
        case nil: break
        }
        guard result.ending == .exited(code: 0) else {
            let ending =
                switch result.ending {
                case .exited(let code): "it exited with the status \(code)"
                case .killed(let signal): "it was ended by the signal \(signal)"
                }
            throw CredentialError.invalid(service, reason: ending, remedy: "run credential_process by hand to see why")
        }
        let document = try CredentialDocument(result.bytes, from: service)
        guard document.version == 1 else {
            throw CredentialError.invalid(service, reason: "its output is not of Version 1")
        }
        return try document.credentials(from: service)
    }

    /// Runs the command with the shell, as the AWS tools do, on a thread of its own.
    private func run(_ environment: [String: String], until deadline: ContinuousClock.Instant) async throws
        -> ProgramOutput
    {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<ProgramOutput, any Error>) in
                do {
                    try DedicatedThread.start(name: "credentials") {
                        continuation.resume(
                            with: Result {
                                try ProgramOutput.run(
                                    path: "/bin/sh", arguments: ["-c", command], environment: environment,
                                    bytesMax: Limits.credentialResponseBytesMax, deadline: deadline,
                                    isCancelled: { flag.isSet.load(ordering: .relaxed) })
                            })
                    }
                } catch {
                    continuation.resume(
                        throwing: CredentialError.unavailable("the program", reason: "no thread could be started"))
                }
            }
        } onCancel: {
            flag.isSet.store(true, ordering: .relaxed)
        }
    }
}

private final class CancellationFlag: Sendable {
    let isSet = Atomic(false)
}

extension Limits {
    /// Time for a `credential_process`, as in the AWS SDKs.
    static let credentialProcessSecondsMax = 60.0
}
