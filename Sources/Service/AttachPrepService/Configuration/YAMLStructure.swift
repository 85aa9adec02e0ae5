import AttachPrepModel
import CYaml
import MediaTypes

/// Checks a YAML text by the parser's events, before a tree is made of it: no anchors (`&name`) and aliases (`*name`),
/// with which a small file can stand for billions of values, and no more nodes and levels than a configuration has.
enum YAMLStructure {
    /// A text that is not valid YAML passes: the parser of the tree reports it.
    ///
    /// - Throws: `request.invalid`, with the line of the first anchor or alias.
    static func check(_ text: String, _ path: String) throws {
        var parser = unsafe yaml_parser_t()
        guard unsafe yaml_parser_initialize(&parser) == 1 else {
            throw AttachPrepError(.internal, "The YAML parser could not be started.")
        }
        defer { unsafe yaml_parser_delete(&parser) }
        unsafe yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
        let bytes = Array(text.utf8)
        try unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe yaml_parser_set_input_string(&parser, buffer.baseAddress, buffer.count)
            var (nodes, depth) = (0, 0)
            while let event = try unsafe next(&parser, path: path) {
                switch event {
                case .scalar: nodes += 1
                case .begin: (nodes, depth) = (nodes + 1, depth + 1)
                case .end: depth -= 1
                case .other: break
                }
                guard nodes <= Limits.configurationNodesMax, depth <= Limits.configurationDepthMax else {
                    throw AttachPrepError(
                        .requestInvalid,
                        "\(path): The file has more than \(Limits.configurationNodesMax) values or "
                            + "\(Limits.configurationDepthMax) levels; write `key: value` on each line.")
                }
            }
        }
    }

    private enum Event {
        case scalar
        case begin
        case end
        case other
    }

    /// The next event; nil at the end of the text, or at its first error.
    private static func next(_ parser: inout yaml_parser_t, path: String) throws -> Event? {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(&parser, &event) == 1 else { return nil }
        defer { unsafe yaml_event_delete(&event) }
        let line = unsafe event.start_mark.line + 1
        switch unsafe event.type {
        case YAML_STREAM_END_EVENT: return nil
        case YAML_ALIAS_EVENT: throw reference(path, line: line)
        case YAML_SCALAR_EVENT:
            if unsafe event.data.scalar.anchor != nil { throw reference(path, line: line) }
            return .scalar
        case YAML_SEQUENCE_START_EVENT:
            if unsafe event.data.sequence_start.anchor != nil { throw reference(path, line: line) }
            return .begin
        case YAML_MAPPING_START_EVENT:
            if unsafe event.data.mapping_start.anchor != nil { throw reference(path, line: line) }
            return .begin
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .end
        default: return .other
        }
    }

    private static func reference(_ path: String, line: Int) -> AttachPrepError {
        AttachPrepError(
            .requestInvalid,
            "\(path):\(line): Anchors and aliases (& and *) are not supported; put a text that begins with one of them "
                + "in quotes.")
    }
}

extension Limits {
    /// Values of a configuration file: its settings and the longest list of tokens.
    static let configurationNodesMax = 20_000
    /// Levels of a configuration file: keys, and lists of texts; a few more are read for a better message.
    static let configurationDepthMax = 8
}
