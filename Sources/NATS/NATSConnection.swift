internal import CNATS
internal import Dispatch
internal import Glibc
internal import SafeArithmetic
internal import Synchronization

/// A connection to the servers of a cluster; owns a `natsConnection`.
///
/// When the connection is lost, the library tries to reconnect, to any server of the cluster, without limit. Requests
/// made meanwhile fail at once: nothing is buffered and sent after the caller has given up.
///
/// C: `natsConnection_Connect`, `natsConnection_PublishMsg`. Calls that may wait for a socket run on a dispatch queue,
/// and answers arrive on a thread of the library, so that neither blocks Swift's cooperative pool.
@safe package final class NATSConnection: Sendable {
    /// The library guards the object behind it with its own locks.
    private nonisolated(unsafe) let handle: OpaquePointer
    private let events: ConnectionEvents
    private let inbox = ReplyInbox()
    private let subscription: NATSSubscription
    private let sending = DispatchQueue(label: "attachprep.nats.sending")
    private let outbox = Mutex(Outbox())
    /// The longest wait for an answer.
    let requestTimeout: Duration
    private let listeners = Mutex(Listeners())
    private let minimumVersion: NATSServerVersion?
    private let currentVersionError = Mutex<NATSError?>(nil)

    private struct Listeners {
        var last = 0
        var onDisconnect: [Int: @Sendable () -> Void] = [:]
        var onReconnect: [Int: @Sendable () -> Void] = [:]
    }

    /// Connects to the first server that answers.
    ///
    /// - Throws: `NATSError.library` with the library's reason, such as rejected credentials;
    ///   `NATSError.serverTooOld`.
    package static func connect(_ settings: NATSSettings) async throws -> NATSConnection {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "attachprep.nats.connecting").async {
                continuation.resume(with: Result { try NATSConnection(blocking: settings) })
            }
        }
    }

    private init(blocking settings: NATSSettings) throws(NATSError) {
        let events = ConnectionEvents()
        let options = try NATSOptions(settings)
        try events.attach(to: options)
        var handle: OpaquePointer?
        let status = unsafe natsConnection_Connect(&handle, options.handle)
        guard status == NATS_OK, let handle = unsafe handle else {
            events.detach()
            try status.check("connect")
            throw NATSError.library(code: 0, operation: "connect", text: "out of memory")
        }
        unsafe self.handle = handle
        self.events = events
        requestTimeout = settings.requestTimeout
        minimumVersion = settings.minimumVersion
        let inbox = inbox
        do {
            subscription = try unsafe NATSSubscription("\(inbox.prefix)*", on: handle) { inbox.receive($0) }
        } catch {
            unsafe natsConnection_Destroy(handle)
            throw error
        }
        Self.scheduleTimeoutCheck(for: inbox)
        events.listen(
            onDisconnect: { [weak self] in self?.handleDisconnect() },
            onServerChange: { [weak self] in self?.checkVersion() },
            onReconnect: { [weak self] in self?.handleReconnect() })
        checkVersion()
        if let versionError { throw versionError }
    }

    deinit {
        close()
        unsafe natsConnection_Destroy(handle)
    }

    /// Closes the connection. Waiting and later requests fail with `NATSError.disconnected`.
    package func close() {
        inbox.failAll(closing: true)
        unsafe natsConnection_Close(handle)
    }

    /// Checks for timed-out requests every 250 ms until the inbox is closed.
    private static func scheduleTimeoutCheck(for inbox: ReplyInbox) {
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.25) { [weak inbox] in
            guard let inbox, inbox.expire(at: .now) else { return }
            scheduleTimeoutCheck(for: inbox)
        }
    }

    /// Sets what is called, on a thread of the library, with the servers' text when they deny a request for want of a
    /// permission. They do not answer the request, which times out.
    package func onDenied(_ callback: @escaping @Sendable (String) -> Void) { events.listen(onDenied: callback) }

    // MARK: State

    /// Whether there is a connection to a server of an accepted version.
    package var isConnected: Bool { events.isConnected && versionError == nil }

    /// Why the connected server is not used; nil when its version is accepted.
    package var versionError: NATSError? { currentVersionError.withLock { $0 } }

    /// The version of the connected server, or of the last one.
    package var serverVersion: NATSServerVersion { unsafe NATSServerVersion(of: handle) }

    private func checkVersion() {
        let version = serverVersion
        var found: NATSError?
        if let minimumVersion, version < minimumVersion { found = .serverTooOld(version, least: minimumVersion) }
        currentVersionError.withLock { [found] versionError in versionError = found }
    }

    /// The address of the connected server, without credentials; nil when not connected.
    package var serverAddress: String? {
        unsafe Self.text { unsafe natsConnection_GetConnectedUrl(handle, $0, $1) }.map(NATSSettings.withoutCredentials)
    }

    /// The ID of the connected server; nil when not connected.
    package var serverID: String? { unsafe Self.text { unsafe natsConnection_GetConnectedServerId(handle, $0, $1) } }

    /// Addresses of all configured and discovered servers, without credentials.
    package var knownServers: [String] {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        var count: CInt = 0
        guard unsafe natsConnection_GetServers(handle, &list, &count) == NATS_OK, let list = unsafe list else {
            return []
        }
        defer { unsafe free(list) }
        return (0..<max(0, Int(clamping: count))).compactMap { index in
            guard let text = unsafe list[index] else { return nil }
            defer { unsafe free(text) }
            return unsafe NATSSettings.withoutCredentials(String(cString: text))
        }
    }

    /// Capacity for an address or server ID in bytes; longer than any that the library stores.
    private static let textBytesMax = 1_024

    private static func text(_ read: (UnsafeMutablePointer<CChar>, Int) -> natsStatus) -> String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: textBytesMax) { buffer in
            guard let start = buffer.baseAddress, unsafe read(start, textBytesMax) == NATS_OK else { return nil }
            let text = unsafe String(cString: start)
            return text.isEmpty ? nil : text
        }
    }

    /// The longest message that the servers accept, in bytes.
    package var messageBytesMax: Int { Int(clamping: unsafe natsConnection_GetMaxPayload(handle)) }

    /// Calls `onDisconnect` each time the connection is lost and `onReconnect` each time it is restored, on a thread of
    /// the library.
    ///
    /// - Returns: A closure that removes both callbacks.
    package func listen(
        onDisconnect: @escaping @Sendable () -> Void = {}, onReconnect: @escaping @Sendable () -> Void = {}
    ) -> @Sendable () -> Void {
        let number = listeners.withLock { listeners in
            listeners.last += 1
            listeners.onDisconnect[listeners.last] = onDisconnect
            listeners.onReconnect[listeners.last] = onReconnect
            return listeners.last
        }
        return { [weak self] in
            self?.listeners.withLock { listeners in
                listeners.onDisconnect[number] = nil
                listeners.onReconnect[number] = nil
            }
        }
    }

    private func handleDisconnect() {
        inbox.failAll()
        for callback in listeners.withLock({ Array($0.onDisconnect.values) }) { callback() }
    }

    private func handleReconnect() {
        for callback in listeners.withLock({ Array($0.onReconnect.values) }) { callback() }
    }

    // MARK: Sending

    /// Sends a message without waiting for an answer. A message that cannot be sent is dropped silently.
    package func publish(_ message: OutgoingMessage, replyTo reply: String? = nil) {
        send([Post(message: message, reply: reply, isRequest: false)])
    }

    /// Sends a message and waits for its only answer.
    ///
    /// - Throws: `NATSError`; after `.timedOut` and `.disconnected` the request may have been carried out.
    package func request(_ message: OutgoingMessage) async throws -> NATSMessage {
        try await response(to: message).get()
    }

    private func response(to message: OutgoingMessage) async -> Result<NATSMessage, any Error> {
        await withCheckedContinuation { continuation in
            send([expect(message) { continuation.resume(returning: $0) }].compactMap(\.self))
        }
    }

    /// Sends messages in order, without waiting between them, and waits for all answers.
    package func requestAll(_ messages: [OutgoingMessage]) async -> [Result<NATSMessage, any Error>] {
        guard !messages.isEmpty else { return [] }
        if messages.count == 1 { return [await response(to: messages[0])] }
        let answers = ReplyCollector(count: messages.count)
        return await withCheckedContinuation { continuation in
            let posts = messages.enumerated().map { index, message in
                expect(message) { answer in
                    if let all = answers.add(answer, at: index) { continuation.resume(returning: all) }
                }
            }
            send(posts.compactMap(\.self))
        }
    }

    /// Registers `receive` for the answer to a message.
    ///
    /// - Returns: What to send; nil when it cannot be sent: `receive` was called with the error.
    private func expect(_ message: OutgoingMessage, _ receive: @escaping ReplyInbox.ReplyHandler) -> Post? {
        guard message.bytes.count <= messageBytesMax else {
            receive(.failure(NATSError.tooLarge(bytes: message.bytes.count, limit: messageBytesMax)))
            return nil
        }
        let subject = message.subject
        let reply = inbox.expect(subject, within: requestTimeout) { answer in
            receive(
                answer.flatMap { message in
                    message.status == 503
                        ? .failure(NATSError.noResponders(subject: subject)) : .success(message)
                })
        }
        return reply.map { Post(message: message, reply: $0, isRequest: true) }
    }

    // MARK: Send queue

    private struct Post: Sendable {
        var message: OutgoingMessage
        var reply: String?
        /// Whether a caller waits for the answer.
        var isRequest: Bool
    }

    private struct Outbox {
        var waiting: [Post] = []
        var isSending = false
    }

    /// Queues messages for the sending queue; concurrent calls share one of its runs.
    private func send(_ posts: [Post]) {
        guard !posts.isEmpty else { return }
        let begins = outbox.withLock { outbox in
            outbox.waiting += posts
            defer { outbox.isSending = true }
            return !outbox.isSending
        }
        if begins { sending.async { [self] in sendWaiting() } }
    }

    private func sendWaiting() {
        while true {
            let posts = outbox.withLock { outbox in
                defer { outbox.waiting = [] }
                outbox.isSending = !outbox.waiting.isEmpty
                return outbox.waiting
            }
            if posts.isEmpty { return }
            for post in posts { send(post) }
        }
    }

    private func send(_ post: Post) {
        do {
            guard events.isConnected else { throw NATSError.disconnected }
            if let versionError { throw versionError }
            try unsafe post.message.publish(on: handle, replyTo: post.reply)
        } catch {
            guard post.isRequest, let reply = post.reply else { return }
            inbox.fail(reply, (error as? NATSError) ?? .disconnected)
        }
    }

    /// Subscribes to a subject until the returned object is released.
    func subscribe(
        to subject: String, _ receive: @escaping @Sendable (NATSMessage) -> Void
    ) async throws -> NATSSubscription {
        try await withCheckedThrowingContinuation { continuation in
            sending.async { [self] in
                continuation.resume(with: Result { try unsafe NATSSubscription(subject, on: handle, receive) })
            }
        }
    }
}

/// Receives a connection's events on threads of the library.
final class ConnectionEvents: Sendable {
    private struct State {
        var isConnected = true
        var onDisconnect: (@Sendable () -> Void)?
        var onReconnect: (@Sendable () -> Void)?
        var onServerChange: (@Sendable () -> Void)?
        var onDenied: (@Sendable (String) -> Void)?
    }

    private let state = Mutex(State())

    var isConnected: Bool { state.withLock { $0.isConnected } }

    /// Sets the callbacks.
    ///
    /// - Parameter onServerChange: called after a reconnect, before `isConnected` is true again.
    func listen(
        onDisconnect: @escaping @Sendable () -> Void, onServerChange: @escaping @Sendable () -> Void,
        onReconnect: @escaping @Sendable () -> Void
    ) {
        state.withLock {
            $0.onDisconnect = onDisconnect
            $0.onServerChange = onServerChange
            $0.onReconnect = onReconnect
        }
    }

    func listen(onDenied: @escaping @Sendable (String) -> Void) { state.withLock { $0.onDenied = onDenied } }

    func denied(_ text: String) {
        let callback = state.withLock { $0.onDenied }
        callback?(text)
    }

    func disconnected() {
        let callback = state.withLock { state in
            state.isConnected = false
            return state.onDisconnect
        }
        callback?()
    }

    func reconnected() {
        state.withLock { $0.onServerChange }?()
        let callback = state.withLock { state in
            state.isConnected = true
            return state.onReconnect
        }
        callback?()
    }

    /// Registers this object with the library, which keeps it alive until the connection is closed.
    func attach(to options: NATSOptions) throws(NATSError) {
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let handle = unsafe options.handle
        try unsafe natsOptions_SetDisconnectedCB(handle, { unsafe ConnectionEvents.of($1).disconnected() }, context)
            .check("set the disconnect callback")
        try unsafe natsOptions_SetReconnectedCB(handle, { unsafe ConnectionEvents.of($1).reconnected() }, context)
            .check("set the reconnect callback")
        // Without a handler the library prints errors.
        try unsafe natsOptions_SetErrorHandler(
            handle,
            { connection, _, status, context in
                var text: UnsafePointer<CChar>?
                guard status == NATS_NOT_PERMITTED, let connection = unsafe connection else { return }
                _ = unsafe natsConnection_GetLastError(connection, &text)
                unsafe ConnectionEvents.of(context).denied(text.map { unsafe String(cString: $0) } ?? "")
            }, context
        ).check("set the error callback")
        try unsafe natsOptions_SetClosedCB(
            handle,
            { _, context in
                unsafe ConnectionEvents.of(context).disconnected()
                if let context = unsafe context {
                    unsafe Unmanaged<ConnectionEvents>.fromOpaque(context).release()
                }
            }, context
        ).check("set the close callback")
    }

    /// Releases what `attach` retained when connecting has failed: the close callback is not called then.
    func detach() {
        unsafe Unmanaged.passUnretained(self).release()
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> ConnectionEvents {
        guard let context = unsafe context else { preconditionFailure("the library passes the registered context") }
        return unsafe Unmanaged<ConnectionEvents>.fromOpaque(context).takeUnretainedValue()
    }
}
