/// What becomes of a dialect's own fields beside an address: they say what the manifest says, in the shape they have.
struct FieldShapes {
    let item: PayloadMediaItem
    let attachment: ManifestFile
    let type: AttachmentType
    let options: AttachmentOptions?

    enum Change: Sendable, Hashable {
        case keep
        /// Its meaning is gone, or it never had one.
        case remove
        case write(PayloadValue)
        /// Values within it; what does not change keeps its spelling.
        case writeParts([Part])
    }

    struct Part: Sendable, Hashable {
        let steps: [PayloadPath.Step]
        let value: PayloadValue
    }

    func change(of field: MediaPlace.Field, found: PayloadValue) -> Change {
        switch field {
        case .id, .type, .fallbackURL: .keep
        case .name: name(found)
        case .bytes: bytes(found)
        case .typeHint: found.string == type.uti ? .keep : .write(.string(type.uti))
        case .thumbnailHidden: hidden(found)
        case .clippingRect: rect(found)
        case .thumbnailTime: time(found)
        }
    }

    /// The name stays, with the extension of what the file is now.
    private func name(_ found: PayloadValue) -> Change {
        guard let name = found.string, !name.isEmpty else { return .keep }
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        if TypeDeclaration(String(name[dot...])).attachmentType == type { return .keep }
        return .write(.string("\(name[..<dot]).\(type.fileExtension)"))
    }

    private func bytes(_ found: PayloadValue) -> Change {
        if found.string != nil { return .write(.string("\(attachment.bytes)")) }
        return found.double == Double(attachment.bytes) ? .keep : .write(.number(attachment.bytes))
    }

    private func hidden(_ found: PayloadValue) -> Change {
        let wanted = options?.thumbnailHidden
        guard let wanted else { return item.options.thumbnailHidden == false ? .keep : .remove }
        if item.options.thumbnailHidden == wanted { return .keep }
        return switch found {
        case .number: .write(.number(wanted ? 1 : 0))
        case .string: .write(.string(wanted ? "true" : "false"))
        default: .write(.bool(wanted))
        }
    }

    /// A number of seconds or of a frame stays a number, a CMTime stays one.
    private func time(_ found: PayloadValue) -> Change {
        guard let wanted = options?.thumbnailTime else { return .remove }
        let isStructured = found.members != nil
        switch wanted {
        case .frame(let number):
            if item.options.thumbnailTime == Double(number), !isStructured { return .keep }
            return .write(found.string == nil ? .number(number) : .string("\(number)"))
        case .movie(let time):
            // Bounded: floating point, which does not trap.
            if let asked = item.options.thumbnailTime, (asked - time.seconds).magnitude <= Self.tick { return .keep }
            if isStructured { return .write(wanted.payloadValue) }
            let seconds = PayloadValue.number(time.seconds)
            guard found.string != nil, case .number(let text) = seconds else { return .write(seconds) }
            return .write(.string(text))
        }
    }

    /// A time is rounded to the next tick; closer than that it is the same.
    private static let tick = 1 / Double(Limits.movieTimescale)
}
