import Foundation

/// The output and exit code of a program.
public struct CommandResult: Sendable {
    /// The exit code; 128 plus the signal's number when a signal ended it, as a shell reports it.
    public let exitCode: Int32
    public let output: [UInt8]
    public let errorOutput: [UInt8]

    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }

    /// Standard error as text.
    public var errorText: String { String(decoding: errorOutput, as: UTF8.self) }

    /// The lines of standard output, without empty ones.
    public var lines: [String] { text.split(separator: "\n").map(String.init) }
}

/// A program did not start, or did not end in time.
public struct CommandError: Error, CustomStringConvertible {
    public let description: String
}

/// A program to run, with environment and standard input.
///
/// ```swift
/// let result = try await RunCommand(BuiltBinary.attachprep(), ["--version"]).run()
/// #expect(result.exitCode == 0)
/// ```
public struct RunCommand: Sendable {
    public var program: String
    public var arguments: [String]
    /// Added to the test's own environment; nil removes a variable.
    public var environment: [String: String?]
    public var input: [UInt8]
    /// The working folder; nil is the test's own.
    public var folder: String?
    /// Seconds after which it is killed, with all processes that it started, and the call throws.
    public var timeoutSeconds: Double
    /// Descriptors that the child receives as 3, 4, …; each must be over 31, so that none is overwritten by the spawn.
    var inherited: [CInt] = []

    /// - Parameter program: A path, or a name looked up in `PATH`.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String?] = [:], input: [UInt8] = [],
        folder: String? = nil, timeoutSeconds: Double = 60
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.input = input
        self.folder = folder
        self.timeoutSeconds = timeoutSeconds
    }

    /// Runs it to its end without blocking the caller's thread.
    public func run() async throws -> CommandResult {
        try await start().result()
    }

    /// Runs it to its end on the caller's thread: only for fixtures without a server in this process.
    public func runBlocking() throws -> CommandResult {
        try start().resultBlocking()
    }

    /// Starts it without waiting: for tests that send it signals.
    public func start() throws -> RunningCommand {
        try RunningCommand(self)
    }
}
