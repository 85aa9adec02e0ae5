internal import CPostgres
internal import Glibc
internal import Linux
internal import MediaTypes
internal import SQLStore
internal import SafeArithmetic

extension Limits {
    /// Bytes that the results of one round trip may have: libpq keeps them in memory, whatever the server sends.
    static let databaseResultBytesMax = 64_000_000
}

/// Owns a libpq connection in pipeline mode.
///
/// Statements have no names, so that they pass a transaction-pooling PgBouncer. Every wait has a deadline. After a lost
/// connection or an answer that libpq or this type does not expect, `isUsable` is false for good.
// Used by one thread at a time: that of its PostgresSession or PostgresListener.
@safe final class PostgresConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let warnings = WarningRecord()
    private(set) var isUsable = true
    /// Pipelines whose results `discardResults` left to be read before the next one.
    private var unread: [Int] = []

    /// Connects on the calling thread, which is blocked by name resolution and for `connect_timeout` a host.
    ///
    /// - Throws: `PostgresError.notConnected`.
    init(_ address: PostgresAddress) throws {
        let parameters = address.connectionParameters()
        let opened = unsafe withCStrings(parameters.map(\.keyword)) { keywords in
            unsafe withCStrings(parameters.map(\.value)) { values in unsafe PQconnectdbParams(keywords, values, 0) }
        }
        guard let opened = unsafe opened else {
            throw PostgresError.notConnected(ConnectFailure("libpq has no memory for a connection"))
        }
        unsafe handle = opened
        guard unsafe PQstatus(opened) == CONNECTION_OK else {
            // A throwing initializer runs the deinitializer, which closes the connection.
            throw PostgresError.notConnected(
                ConnectFailure(
                    unsafe String(cString: PQerrorMessage(opened)),
                    needsPassword: unsafe PQconnectionNeedsPassword(opened) != 0))
        }
        guard unsafe PQsetnonblocking(opened, 1) == 0, unsafe PQenterPipelineMode(opened) == 1 else {
            throw PostgresError.notConnected(ConnectFailure("libpq has no pipeline mode on this connection"))
        }
        // Without DETAIL, which may repeat values.
        _ = unsafe PQsetErrorVerbosity(opened, PQERRORS_TERSE)
        unsafe warnings.attach(to: opened)
    }

    deinit {
        unsafe PQfinish(handle)
    }

    // MARK: Round trips

    /// The result of a statement and its command tag, such as `COMMIT`.
    struct Outcome {
        var result: SQLResult
        var tag: String
    }

    /// Sends statements in one pipeline and waits for their results.
    ///
    /// - Throws: `PostgresError`; after an error of the server, the rest of the pipeline was not executed.
    func run(_ statements: [SQLStatement], within limit: Duration) throws -> [Outcome] {
        let deadline = ContinuousClock.now.advanced(by: limit)
        try readUnread(deadline)
        try send(statements)
        return try endingOnLoss { try receive(statements.count, deadline: deadline) }
    }

    /// Sends statements whose results nobody needs, without waiting; the next call reads them.
    func runLater(_ statements: [SQLStatement]) throws {
        try send(statements)
        unread.append(statements.count)
        try endingOnLoss { _ = try flush() }
    }

    /// Whether the server reported a warning of class 01 since the last call, such as a canceled wait for a standby.
    func takeWarning() -> Bool { warnings.take() }

    /// Makes the connection unusable.
    func end() { isUsable = false }

    private func readUnread(_ deadline: ContinuousClock.Instant) throws {
        while let count = unread.first {
            unread.removeFirst()
            do { _ = try endingOnLoss { try receive(count, deadline: deadline) } } catch PostgresError.server {}
        }
    }

    private func send(_ statements: [SQLStatement]) throws {
        guard isUsable else { throw PostgresError.lost("the connection was ended", nil) }
        for statement in statements where statement.arguments.count > PostgresParameters.countMax {
            throw PostgresError.server(ServerError(state: "54023", text: "more than 65,535 parameters"))
        }
        try endingOnLoss {
            for statement in statements { try send(statement) }
            guard unsafe PQpipelineSync(handle) == 1 else { throw loss() }
        }
    }

    private func send(_ statement: SQLStatement) throws {
        let parameters = PostgresParameters(statement.arguments)
        let isSent = unsafe parameters.withPointers { values in
            unsafe PQsendQueryParams(
                handle, statement.sql, CInt(clamping: parameters.types.count), parameters.types, values,
                parameters.lengths, parameters.formats, 0)
        }
        guard isSent == 1 else { throw loss() }
    }

    /// Reads the results of one pipeline, which must have exactly the expected form.
    private func receive(_ count: Int, deadline: ContinuousClock.Instant) throws -> [Outcome] {
        var left = Limits.databaseResultBytesMax
        var outcomes: [Outcome] = []
        var failure: ServerError?
        for _ in 0..<count {
            guard let result = try next(deadline, left: &left) else {
                throw PostgresError.lost("a result is missing", failure)
            }
            switch result.status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                guard failure == nil else { break }
                guard let contents = result.contents else {
                    throw PostgresError.lost("a result of more than \(Limits.databaseResultValuesMax) values", nil)
                }
                outcomes.append(Outcome(result: contents, tag: result.commandTag))
            case PGRES_FATAL_ERROR:
                failure = failure ?? result.serverError
                guard failure != nil, unsafe PQstatus(handle) == CONNECTION_OK else {
                    throw PostgresError.lost(result.errorText, failure)
                }
            case PGRES_PIPELINE_ABORTED where failure != nil: break
            default: throw PostgresError.lost("a result of an unexpected kind (\(result.status.rawValue))", failure)
            }
            guard try next(deadline, left: &left) == nil else {
                throw PostgresError.lost("one statement has two results", failure)
            }
        }
        guard let end = try next(deadline, left: &left), end.status == PGRES_PIPELINE_SYNC else {
            throw PostgresError.lost("the end of the results is missing", failure)
        }
        if let failure { throw PostgresError.server(failure) }
        return outcomes
    }

    /// The next result of libpq; nil between the results of two statements.
    private func next(_ deadline: ContinuousClock.Instant, left: inout Int) throws -> PostgresResult? {
        while true {
            let needsWrite = try flush()
            if !needsWrite, unsafe PQisBusy(handle) == 0 { break }
            try wait(deadline, needsWrite: needsWrite, left: &left)
            if unsafe PQisBusy(handle) == 0 { break }
        }
        return unsafe PQgetResult(handle).map { unsafe PostgresResult($0) }
    }

    // MARK: The socket

    /// While TLS is in use, libpq may have received bytes that the socket no longer has, so that waiting for the socket
    /// alone would not end: the wait is cut into slices.
    private static let sliceOfTLS = Duration.milliseconds(50)

    /// Waits until the server sent something, or takes something, and reads it.
    private func wait(_ deadline: ContinuousClock.Instant, needsWrite: Bool, left: inout Int) throws {
        let now = ContinuousClock.now
        guard now < deadline else { throw PostgresError.lost("no answer in time", nil) }
        let socket = unsafe PQsocket(handle)
        guard socket >= 0 else { throw loss() }
        let isEncrypted = unsafe PQsslInUse(handle) != 0
        let end = isEncrypted ? min(deadline, now.advanced(by: Self.sliceOfTLS)) : deadline
        let ready = try Readiness.wait(for: [socket], writable: needsWrite ? socket : nil, deadline: end)
        guard !ready.isEmpty || isEncrypted else { return }
        left = left.subtracting(clamping: Int(max(0, CPostgres_bytes_to_read(socket))))
        guard left >= 0 else {
            throw PostgresError.lost("a result of more than \(Limits.databaseResultBytesMax) bytes", nil)
        }
        guard unsafe PQconsumeInput(handle) == 1 else { throw loss() }
    }

    /// Whether libpq still has bytes to send.
    private func flush() throws -> Bool {
        let state = unsafe PQflush(handle)
        guard state >= 0 else { throw loss() }
        return state == 1
    }

    private func loss() -> PostgresError { .lost(libraryText(unsafe String(cString: PQerrorMessage(handle))), nil) }

    private func endingOnLoss<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch PostgresError.server(let error) {
            if error.endsConnection { isUsable = false }
            throw PostgresError.server(error)
        } catch {
            isUsable = false
            throw (error as? PostgresError) ?? PostgresError.lost("\(error)", nil)
        }
    }

    /// Whether the server closed the connection while it had nothing to answer.
    ///
    /// - Parameter limit: for results that are still to be read and have begun to arrive.
    func isClosedByServer(within limit: Duration) -> Bool {
        // A last error message and the end of the stream need two reads.
        for _ in 0..<4 {
            let socket = unsafe PQsocket(handle)
            guard isUsable, socket >= 0 else { return true }
            guard let ready = try? Readiness.wait(for: [socket], deadline: .now), !ready.isEmpty else { return false }
            do { try readUnread(.now.advanced(by: limit)) } catch { return true }
            guard unsafe PQconsumeInput(handle) == 1, unsafe PQstatus(handle) == CONNECTION_OK else { return true }
            _ = unsafe PQisBusy(handle)
        }
        return false
    }

    // MARK: Notifications

    /// The descriptor to wait for between `notifications` calls.
    var socket: CInt { unsafe PQsocket(handle) }

    /// Payloads that arrived for a channel; reads what the socket has.
    ///
    /// - Throws: `PostgresError.lost`.
    func notifications(on channel: String) throws -> [String] {
        try endingOnLoss {
            guard unsafe PQconsumeInput(handle) == 1 else { throw loss() }
        }
        var payloads: [String] = []
        while let notification = unsafe PQnotifies(handle) {
            defer { unsafe PQfreemem(notification) }
            guard let name = unsafe notification.pointee.relname, let payload = unsafe notification.pointee.extra,
                ForeignText(unsafe String(cString: name)) == ForeignText(channel)
            else { continue }
            payloads.append(unsafe String(cString: payload))
        }
        return payloads
    }

    /// Frees notifications that nobody waits for: a pooler delivers those of an earlier user of its connection.
    func dropNotifications() {
        while let notification = unsafe PQnotifies(handle) { unsafe PQfreemem(notification) }
    }

    // MARK: Facts

    struct Facts: Sendable {
        /// Host and port.
        var host: String
        /// Such as `TLSv1.3`; nil without TLS.
        var tlsVersion: String?
        /// The server's process, as the peer reported it when the connection began; a pooler invents one.
        var processID: Int
    }

    var facts: Facts {
        let host = unsafe PQhost(handle).map { unsafe String(cString: $0) } ?? ""
        let port = unsafe PQport(handle).map { unsafe String(cString: $0) } ?? ""
        let isEncrypted = unsafe PQsslInUse(handle) != 0
        let version = unsafe PQsslAttribute(handle, "protocol").map { unsafe String(cString: $0) }
        return Facts(
            host: "\(host):\(port)", tlsVersion: isEncrypted ? version ?? "TLS" : nil,
            processID: Int(unsafe PQbackendPID(handle)))
    }
}

/// Remembers warnings, which libpq would print to standard error.
private final class WarningRecord {
    private var hasWarned = false

    /// The record must live as long as the connection.
    func attach(to handle: OpaquePointer) {
        unsafe PQsetNoticeReceiver(
            handle,
            { context, result in
                guard let context = unsafe context, let result = unsafe result else { return }
                let state = unsafe PQresultErrorField(result, CPostgres_field_state)
                guard let state = unsafe state, unsafe strcmp(state, "01000") == 0 else { return }
                unsafe Unmanaged<WarningRecord>.fromOpaque(context).takeUnretainedValue().hasWarned = true
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func take() -> Bool {
        defer { hasWarned = false }
        return hasWarned
    }
}

/// Calls `body` with a list of C strings that ends with nil, valid during the call.
func withCStrings<Value>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value) -> Value {
    var bytes: [CChar] = []
    var offsets: [Int] = []
    for string in strings {
        offsets.append(bytes.count)
        bytes.append(contentsOf: string.utf8.map(CChar.init(bitPattern:)))
        bytes.append(0)
    }
    return unsafe bytes.withUnsafeBufferPointer { buffer in
        var pointers = unsafe offsets.map { offset in unsafe buffer.baseAddress?.advanced(by: offset) }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }
}
