import Foundation
import Synchronization

/// Media that the `ffmpeg` command makes when a test first needs it.
///
/// Files are kept during the test run, in one folder, named by a hash of the arguments: the same arguments give the
/// same file. Tests may run in parallel; each process makes a file once, and uses those of other processes.
package enum GeneratedMedia {
    /// A fixture could not be made or read.
    package struct FixtureError: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// The folder of this run: ATTACHPREP_TEST_MEDIA, which tools/tests sets for all its processes, else a folder of
    /// this process, which the system removes with the rest of its temporary files.
    package static let folder: URL = {
        let process = ProcessInfo.processInfo
        let folder =
            process.environment["ATTACHPREP_TEST_MEDIA"].map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("attachprep-media-\(process.processIdentifier)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }()

    /// The file written by `ffmpeg ARGUMENTS FILE`.
    ///
    /// - Parameter name: The file's name; its extension decides the container unless the arguments do.
    package static func file(_ name: String, _ arguments: [String]) throws -> URL {
        let target = folder.appendingPathComponent("\(digest(arguments + [name]))-\(name)")
        return try once(target.path) {
            if FileManager.default.fileExists(atPath: target.path) { return target }
            // Another process may be making the same file.
            let process = ProcessInfo.processInfo.processIdentifier
            let part = folder.appendingPathComponent("part-\(process)-\(target.lastPathComponent)")
            try run("ffmpeg", ["-v", "error", "-y", "-nostdin"] + arguments + [part.path])
            guard rename(part.path, target.path) == 0 else {
                throw FixtureError(description: "\(part.path) cannot be renamed: \(errno)")
            }
            return target
        }
    }

    /// A new file with these bytes.
    package static func file(_ name: String, bytes: some Sequence<UInt8>) throws -> URL {
        let file = folder.appendingPathComponent("\(UUID().uuidString)-\(name)")
        try Data(bytes).write(to: file)
        return file
    }

    /// A copy of a file, truncated to a percentage of its length.
    package static func cut(_ file: URL, percent: Int) throws -> URL {
        let bytes = try Data(contentsOf: file)
        return try self.file("\(percent)-\(file.lastPathComponent)", bytes: bytes.prefix(bytes.count * percent / 100))
    }

    /// Five seconds of video, 25 frames/s, 320 x 240, with the frame number encoded in each frame (see `frameNumber`),
    /// and a tone of 440 Hz. Lossless: the source of other files.
    package static func numbered() throws -> URL {
        let bits = "if(lt(X,240),16+219*mod(floor(N/pow(2,floor(X/20))),2),128)"
        return try file(
            "numbered.mkv",
            [
                "-f", "lavfi", "-i", "color=gray:s=320x240:r=25:d=5,format=gray,geq=lum='\(bits)'",
                "-f", "lavfi", "-i", "sine=440:d=5:r=44100", "-c:v", "ffv1", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le",
            ])
    }

    /// `numbered`, encoded with other arguments.
    package static func numbered(_ name: String, _ arguments: String) throws -> URL {
        try file(name, ["-i", numbered().path] + arguments.split(separator: " ").map(String.init))
    }

    /// The frame number of a frame made from `numbered`: twelve bars, the lowest bit on the left.
    package static func frameNumber(width: Int, height: Int, bands: Int, bytes: [UInt8]) -> Int {
        let bar = Double(width) / 16
        return (0..<12).reduce(0) { number, bit in
            let x = Int((Double(bit) + 0.5) * bar)
            let luma = bytes[(height / 2 * width + x) * bands + 1]
            return luma > 128 ? number | 1 << bit : number
        }
    }

    /// Runs a command to its end.
    ///
    /// - Returns: Its standard output.
    @discardableResult
    package static func run(_ command: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [command] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            throw FixtureError(
                description: "\(command) \(arguments.joined(separator: " ")): \(process.terminationStatus)")
        }
        return data
    }

    /// FNV-1a, so that names stay the same from run to run.
    private static func digest(_ arguments: [String]) -> String {
        let hash = arguments.joined(separator: "\0").utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return String(hash, radix: 16)
    }

    private static let locks = Mutex<[String: NSLock]>([:])

    /// Makes each file once; concurrent calls wait.
    private static func once<Result>(_ key: String, _ body: () throws -> Result) rethrows -> Result {
        let lock = locks.withLock { locks in
            let lock = locks[key] ?? NSLock()
            locks[key] = lock
            return lock
        }
        return try lock.withLock(body)
    }
}

/// Calls `body` with an open descriptor of a file.
package func withDescriptor<Result>(_ file: URL, _ body: (CInt) throws -> Result) throws -> Result {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    return try body(handle.fileDescriptor)
}
