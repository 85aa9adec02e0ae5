import Foundation

/// A program in the place of attachprep-media that does what a test writes down, in Python.
///
/// It has `hear()`, which takes a call, `say(number, content)`, which answers, `send(bytes)` for what is no message of
/// ours, `pause()`, which waits for its end, and `starts`, which counts the children that came before it, from 0.
public struct ScriptedChild {
    public let folder: TemporaryFolder
    public let path: String

    private static let prelude = """
        #!/usr/bin/python3 -IS
        import array, json, os, signal, socket, sys, time
        with open('FOLDER/starts', 'a') as log: log.write(str(os.getpid()) + '\\n')
        starts = open('FOLDER/starts').read().count('\\n') - 1
        parent = socket.socket(fileno=3)
        def send(data): parent.send(data)
        def say(number, content): send(json.dumps({'number': number, 'content': content}).encode())
        def hear():
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

    /// - Parameter isReady: whether it first says that it is ready.
    public init(_ script: String, isReady: Bool = true) throws {
        folder = try TemporaryFolder()
        let prelude = Self.prelude.replacingOccurrences(of: "FOLDER", with: folder.path)
        path = try folder.write(prelude + (isReady ? "say(0, ready)\n" : "") + script + "\n", to: "media")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        try folder.write("", to: "starts")
        try folder.write("", to: "calls")
    }

    /// The children that were started, in order.
    public var processIDs: [pid_t] {
        let text = (try? String(contentsOfFile: folder.path("starts"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { pid_t($0) }
    }

    /// How many calls they heard.
    public var calls: Int {
        let text = (try? String(contentsOfFile: folder.path("calls"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").count
    }

    /// A value as a Python literal: JSON but for its constants.
    public static func python(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return [("true", "True"), ("false", "False"), ("null", "None")].reduce(text) {
            $0.replacingOccurrences(of: ":\($1.0)", with: ":\($1.1)")
        }
    }
}
