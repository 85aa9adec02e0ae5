import ArgumentParser
import AttachPrepPages

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The file of a page, which appears whole or not at all.
struct ReportFile: Sendable {
    let path: String

    /// - Parameter option: how the path was given, for who gave it.
    /// - Throws: `ValidationError` for a path at which no file can appear: better now than after hours of work.
    init(path: String, option: String) throws {
        self.path = path
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        if path.isEmpty || path.hasSuffix("/") || type == .typeDirectory {
            throw ValidationError("\(option) needs the name of a file, as in page.html; \"\(path)\" is none.")
        }
        let folder = Self.folder(of: path)
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw ValidationError("\(option) cannot write in \(folder); give a file in a folder that is there.")
        }
    }

    /// Writes the page and says where it is.
    ///
    /// - Throws: `CommandEnd.someRejected` when it cannot be written.
    func write(_ page: ReportPage) throws {
        do {
            try Data(page.html()).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            StandardStreams.note("attachprep: output.not_writable: \(TerminalText.safe(path)) could not be written.")
            throw CommandEnd.someRejected
        }
        StandardStreams.note("The page is in \(TerminalText.safe(path)).")
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
