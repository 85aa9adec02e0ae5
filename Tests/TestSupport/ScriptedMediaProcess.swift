import Foundation

/// A replacement for attachprep-media that runs a test's Python script.
///
/// The script has `receive()`, which returns the next call, `reply(number, content)`, `send(bytes)` for raw bytes,
/// `pause()`, which waits until the parent closes the socket, and `starts`, the number of media processes started
/// before it.
public struct ScriptedMediaProcess {
    public let folder: TemporaryFolder
    public let path: String

    private static let prelude = """
        #!/usr/bin/python3 -IS
        import array, json, os, signal, socket, sys, time
        with open('FOLDER/starts', 'a') as log: log.write(str(os.getpid()) + '\\n')
        starts = open('FOLDER/starts').read().count('\\n') - 1
        parent = socket.socket(fileno=3)
        def send(data): parent.send(data)
        def reply(number, content): send(json.dumps({'number': number, 'content': content}).encode())
        def receive():
            data = parent.recv(1 << 20)
            if not data: sys.exit(0)
            with open('FOLDER/calls', 'a') as log: log.write('call\\n')
            return json.loads(data)
        def pause():
            while parent.recv(1 << 20): pass
            sys.exit(0)
        def die(name): os.kill(os.getpid(), getattr(signal, name))
        described = {'answer': {'_0': {'described': {'_0': {'libraries': [], 'abilities': []}}}}}
        ready = {'ready': {}}

        """

    /// - Parameter isReady: whether it first sends the message `ready`.
    public init(_ script: String, isReady: Bool = true) throws {
        folder = try TemporaryFolder()
        let prelude = Self.prelude.replacingOccurrences(of: "FOLDER", with: folder.path)
        path = try folder.write(prelude + (isReady ? "reply(0, ready)\n" : "") + script + "\n", to: "media")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        try folder.write("", to: "starts")
        try folder.write("", to: "calls")
    }

    /// The process IDs of the media processes that were started, in order.
    public var processIDs: [pid_t] {
        let text = (try? String(contentsOfFile: folder.path("starts"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { pid_t($0) }
    }

    /// The number of calls that they received.
    public var calls: Int {
        let text = (try? String(contentsOfFile: folder.path("calls"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").count
    }

    /// A value as a Python literal: JSON with Python's constants.
    public static func python(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return [("true", "True"), ("false", "False"), ("null", "None")].reduce(text) {
            $0.replacingOccurrences(of: ":\($1.0)", with: ":\($1.1)")
        }
    }
}
