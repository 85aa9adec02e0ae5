internal import SafeArithmetic

extension ObjectBucket {
    /// Reads an object from its beginning to its end.
    ///
    /// - Parameter take: gets one chunk after the other; what it throws ends the reading.
    /// - Throws: `NATSError.unreadable` when chunks are missing, after the servers' time to answer.
    package func get(_ object: ObjectInformation, _ take: ([UInt8]) async throws -> Void) async throws {
        let size = try await object.chunks > 0 ? read(object, take) : 0
        guard size == object.size else {
            throw hole(object, "\(size) bytes where there should be \(object.size)")
        }
    }

    /// - Returns: how many bytes its chunks have.
    private func read(_ object: ObjectInformation, _ take: ([UInt8]) async throws -> Void) async throws -> Int {
        let shape = ConsumerShape(stream: streamName, filter: chunkSubject(object.nuid))
        let (consumer, _) = try await stream.passingConsumer(shape)
        var (place, size) = (0, 0)
        while place < object.chunks {
            let end = min(place.adding(clamping: Self.windowCount), object.chunks)
            let pull = consumer.pull(end.subtracting(clamping: place), for: stream.connection.answerTime)
            // Nobody says that a pull has brought all that it could: it is counted.
            while place < end {
                guard let deliveries = try await pull.next() else {
                    throw hole(object, "\(place) chunks where there should be \(object.chunks)")
                }
                try deliveries.checkOrder(after: UInt64(clamping: place))
                for delivery in deliveries {
                    try await take(delivery.bytes)
                    size = size.adding(clamping: delivery.bytes.count)
                    // More than was announced: it is not read on until the disk is full.
                    guard size <= object.size else { throw hole(object, "more than \(object.size) bytes") }
                }
                place = place.adding(clamping: deliveries.count)
            }
        }
        return size
    }

    private func hole(_ object: ObjectInformation, _ text: String) -> NATSError {
        .unreadable(subject: chunkSubject(object.nuid), text: text)
    }
}
