import Foundation
import TestSupport

/// A client of `samples/clients`.
enum SampleClient: String, CaseIterable, Sendable {
    case shell = "prepare.sh"
    case python = "prepare.py"
    case node = "prepare.mjs"
    case swift

    /// The clients whose runtime is installed; Node is not among the packages that tests need.
    static let runnable = allCases.filter { client in
        guard client == .node else { return true }
        let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/node") }
    }

    func command(_ arguments: [String], at url: String, token: String? = nil, input: [UInt8] = []) throws
        -> RunCommand
    {
        let program = self == .swift ? try BuiltBinary.sampleClient() : SourceTree.path("samples/clients/\(rawValue)")
        return RunCommand(
            program, arguments, environment: ["ATTACHPREP_URL": url, "ATTACHPREP_TOKEN": token], input: input)
    }
}
