import Foundation
import TestSupport

/// One of `samples/clients`, where its runtime is on this machine.
enum SampleCaller: String, CaseIterable, Sendable {
    case shell = "prepare.sh"
    case python = "prepare.py"
    case node = "prepare.mjs"
    case swift

    /// Node alone is not among the packages that tests need.
    static let runnable = allCases.filter { caller in
        guard caller == .node else { return true }
        let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/node") }
    }

    func command(_ words: [String], at url: String, token: String? = nil, input: [UInt8] = []) throws -> RunCommand {
        let program = self == .swift ? try BuiltBinary.sampleClient() : SourceTree.path("samples/clients/\(rawValue)")
        return RunCommand(
            program, words, environment: ["ATTACHPREP_URL": url, "ATTACHPREP_TOKEN": token], input: input)
    }
}
