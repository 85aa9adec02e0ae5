/// Numbers that came from outside the process never meet an operation that can trap.
///
/// The rule cannot see types, so it looks at every integer operator and conversion in the files that take numbers out
/// of foreign bytes (`readers`). An operation is accepted when it cannot trap (`adding(clamping:)`, `Int(exactly:)`,
/// `&+`, text parsed into an optional), when all of its operands are constants or counts of what is in memory, or when
/// a comment beside it or above it says what bounds it: `// Bounded: at most 16 bits each.` Where one bound holds for
/// more, as for offsets in a file, `// Bounded throughout: …` says it once: above a declaration for all of it, else to
/// the end of the block.
enum ForeignNumberRules {
    /// Folders (with their slash) and files that parse media, heads, messages or rows.
    static let readers: [String] = [
        // Heads and addresses.
        "Sources/Preparation/AttachPrep/Download/ContentDecoder.swift",
        "Sources/Preparation/AttachPrep/Network/HTTPClientExchange.swift",
        "Sources/Preparation/AttachPrep/Network/IPAddress.swift",
        "Sources/Preparation/AttachPrep/Network/ResponseHead.swift",
        "Sources/Preparation/AttachPrep/Network/TraceHeaders.swift",
        "Sources/Preparation/AttachPrep/Network/WebAddress.swift",
        "Sources/Service/AttachPrepService/Connection/DeclaredLength.swift",
        "Sources/Service/AttachPrepService/Connection/HostHeader.swift",
        "Sources/Service/AttachPrepService/Routes/MediaRoutes.swift",
        "Sources/Service/AttachPrepService/Routes/QueryParameters.swift",
        "Sources/Libraries/Zlib/",
        // Messages: requests, payloads, a media process.
        "Sources/Preparation/AttachPrep/MediaPool/AnswerValidation.swift",
        "Sources/Preparation/AttachPrep/MediaPool/ProcessorAllowance.swift",
        "Sources/Libraries/Linux/MessageSocket.swift",
        "Sources/Media/MediaEngine/MediaProcessProtocol.swift",
        "Sources/Payloads/RichPush/Device/FetchResponse.swift",
        "Sources/Payloads/RichPush/Device/PushContentReader.swift",
        "Sources/Core/MediaTypes/JSON/",
        "Sources/Core/MediaTypes/ThumbnailTime.swift",
        "Sources/Payloads/SealedMedia/SealedFileReader.swift",
        "Sources/Payloads/SealedMedia/SealedLayout.swift",
        // Rows.
        "Sources/Jobs/PostgresDatabase/PostgresResult.swift",
        "Sources/Jobs/SQLStore/Database/SQLValue.swift",
        "Sources/Jobs/SQLStore/Jobs/JobRecord.swift",
        "Sources/Jobs/SQLStore/Store/ChangeMessage.swift",
        // Media.
        "Sources/Media/MediaEngine/FileSignatures.swift",
        "Sources/Media/MediaEngine/LeadingBytes.swift",
        "Sources/Media/MediaEngine/MPEGAudioHeader.swift",
        "Sources/Libraries/MediaLibraries/JPEG/BaselineDamage.swift",
        "Sources/Libraries/MediaLibraries/JPEG/BaselineScan.swift",
        "Sources/Libraries/MediaLibraries/JPEG/HuffmanDecoder.swift",
        "Sources/Libraries/MediaLibraries/JPEG/JPEGDecoder.swift",
        "Sources/Libraries/MediaLibraries/LibAV/Demuxer.swift",
        "Sources/Libraries/MediaLibraries/LibAV/Frame.swift",
        "Sources/Libraries/MediaLibraries/LibAV/Packet.swift",
        "Sources/Libraries/MediaLibraries/LibAV/StreamDescription.swift",
        "Sources/Media/MediaProcessing/Animations/APNGDecoder.swift",
        "Sources/Media/MediaProcessing/Animations/AVIFSequenceDecoder.swift",
        "Sources/Media/MediaProcessing/Animations/GIFDecoder.swift",
        "Sources/Media/MediaProcessing/Parsers/GIFParser.swift",
        "Sources/Media/MediaProcessing/Parsers/LZWDecoder.swift",
        "Sources/Media/MediaProcessing/Animations/WebPAnimationDecoder.swift",
        "Sources/Media/MediaProcessing/Identify/",
        "Sources/Media/MediaProcessing/Bytes/ByteWindow.swift",
        "Sources/Media/MediaProcessing/Bytes/ISOBoxes.swift",
        "Sources/Media/MediaProcessing/Streams/MPEGAudio.swift",
        "Sources/Media/MediaProcessing/Streams/MPEGStreams.swift",
        "Sources/Media/MediaProcessing/Inspect/MediaContainer.swift",
        "Sources/Media/MediaProcessing/Streams/NALUnitValidator.swift",
        "Sources/Media/MediaProcessing/Streams/ParameterSets.swift",
        "Sources/Media/MediaProcessing/Bytes/RIFFChunks.swift",
        "Sources/Media/MediaProcessing/Stills/BMPDecoder.swift",
        "Sources/Media/MediaProcessing/Color/ColorDescription.swift",
        "Sources/Media/MediaProcessing/Parsers/ExifTags.swift",
        "Sources/Media/MediaProcessing/Parsers/HEIFItems.swift",
        "Sources/Media/MediaProcessing/Color/ICCProfile.swift",
        "Sources/Media/MediaProcessing/Stills/IconDecoder.swift",
        "Sources/Media/MediaProcessing/Parsers/JPEGSegments.swift",
        "Sources/Media/MediaProcessing/Parsers/JPEGXLHeader.swift",
        "Sources/Media/MediaProcessing/Parsers/PlainHEIF.swift",
        "Sources/Media/MediaProcessing/Parsers/PNGParser.swift",
        "Sources/Media/MediaProcessing/Parsers/PNGTextOrientation.swift",
        "Sources/Media/MediaProcessing/Stills/TIFFValidator.swift",
        "Sources/Libraries/MediaLibraries/PNG/PNGChunk.swift",
        "Sources/Libraries/MediaLibraries/PNG/PNGDecoder.swift",
        "Sources/Libraries/MediaLibraries/PNG/PNGValidation.swift",
        "Sources/Libraries/MediaLibraries/WebP/",
    ]

    static let remedy = "use SafeArithmetic's clamping or exact forms, or say what bounds it: // Bounded: …"

    static func arithmetic(_ file: TextFile) -> [Finding] {
        guard file.isSwift, readers.contains(where: file.path.hasPrefix) else { return [] }
        return findings(in: file)
    }

    /// Of any Swift file, whether listed or not.
    static func findings(in file: TextFile) -> [Finding] {
        file.code.enumerated().compactMap { index, line in
            guard let trap = operation(in: line) ?? conversion(in: line), !isExplained(index, file.lines),
                !isBoundThroughout(index, file.lines)
            else { return nil }
            return Finding(file.path, index + 1, "\(trap) can trap on a number from outside; \(remedy)")
        }
    }

    private static func isExplained(_ index: Int, _ lines: [Substring]) -> Bool {
        if lines[index].contains("// Bounded: ") { return true }
        // A comment above may have several lines, and an expression may go on over several.
        var above = index - 1
        while above >= 0, index - above <= 4 {
            let line = lines[above].drop(while: \.isWhitespace)
            if line.hasPrefix("// Bounded: ") { return true }
            let goesOn = line.hasPrefix("//") || startsWithOperator(lines[above + 1])
            guard goesOn else { return false }
            above -= 1
        }
        return false
    }

    // MARK: Declarations and blocks with one bound

    private static let throughout = "// Bounded throughout: "

    private static func isBoundThroughout(_ index: Int, _ lines: [Substring]) -> Bool {
        var left = indentation(lines[index])
        for above in lines.indices[..<index].reversed() {
            let words = lines[above].drop(while: \.isWhitespace)
            guard !words.isEmpty else { continue }
            let own = indentation(lines[above])
            if words.hasPrefix(throughout), own <= left, holds(above, for: index, isBlock: own == left, lines) {
                return true
            }
            left = min(left, own)
        }
        return false
    }

    /// - Parameter isBlock: whether no line between the comment and the line stands further left than the comment.
    private static func holds(_ comment: Int, for index: Int, isBlock: Bool, _ lines: [Substring]) -> Bool {
        let own = indentation(lines[comment])
        let head = lines.indices[(comment + 1)...].first { line in
            let words = lines[line].drop(while: \.isWhitespace)
            return !words.hasPrefix("//") && !words.hasPrefix("@")
        }
        guard let head, head <= index else { return false }
        // A whole file is no block.
        guard isDeclaration(lines[head]) else { return isBlock && own > 0 }
        return lines[(head + 1)...].prefix(max(0, index - head)).allSatisfy { line in
            let first = line.drop(while: \.isWhitespace).first
            // A signature of several lines ends in one that begins with a bracket, as deep as its first one.
            return first == nil || indentation(line) > own || ")]#".contains(first ?? "#")
        }
    }

    private static func isDeclaration(_ line: Substring) -> Bool {
        let modifiers: Set<Substring> = [
            "public", "package", "internal", "fileprivate", "private", "static", "mutating", "final", "override",
            "nonisolated", "indirect", "convenience", "private(set)", "nonisolated(unsafe)",
        ]
        let words = line.split(separator: " ").drop { modifiers.contains($0) }
        guard let word = words.first?.prefix(while: { $0.isLetter }) else { return false }
        return ["func", "init", "subscript", "struct", "enum", "class", "actor", "extension", "protocol"].contains(word)
            // A property with a body, not a variable of a block.
            || (word == "var" && line.hasSuffix("{"))
    }

    private static func indentation(_ line: Substring) -> Int { line.utf8.prefix { $0 == UInt8(ascii: " ") }.count }

    private static func startsWithOperator(_ line: Substring) -> Bool {
        guard let word = line.split(separator: " ").first else { return false }
        return operators.contains(String(word)) || ["?", ":", "&&", "||"].contains(word) || word.hasPrefix("//")
    }

    // MARK: Operators

    private static let operators: Set<String> = ["+", "-", "*", "/", "%", "+=", "-=", "*=", "/=", "%=", "<<", "<<="]

    private static func operation(in line: String) -> String? {
        let words = line.split(separator: " ").map(String.init)
        for (index, word) in words.enumerated() where operators.contains(word) {
            let left = index > 0 ? operand(endingWith: words[index - 1]) : ""
            let right = index + 1 < words.count ? operand(startingWith: words[index + 1]) : ""
            // Counting by one what is ours would take centuries.
            if ["+=", "-="].contains(word), right == "1" { continue }
            if ["/", "%", "/=", "%="].contains(word) {
                // Only a zero divisor traps, and `.min / -1`.
                if isConstant(right) { continue }
            } else if isHarmless(left) || isHarmless(right) || (isConstant(left) && isConstant(right)) {
                continue
            }
            if word == "/", isHarmless(left) || isHarmless(right) { continue }
            // A duration by a duration is a floating-point number, and clocks hold every duration of the product.
            if word == "/", words[index + 1].hasPrefix("."), words[index + 1].hasSuffix("(1)") { continue }
            if left == ".now" || left == ".now()" || left == "ContinuousClock.now" { continue }
            return "\(left) \(word) \(right)"
        }
        return nil
    }

    /// Text, lists and floating-point numbers: nothing of theirs traps.
    private static func isHarmless(_ operand: String) -> Bool {
        if operand.contains("\"") { return true }
        let isTyped = ["[", "Double(", "pow(", "Array(", "StatementArguments("].contains { operand.hasPrefix($0) }
        if isTyped || operand.contains("timeInterval") || operand.contains(").rounded(") { return true }
        if operand.hasPrefix(".seconds(") || operand.hasPrefix(".milliseconds(") { return true }
        // What `map` gives is a list, or an optional, which has no arithmetic.
        if operand.contains(".map") || operand.contains(".flatMap") { return true }
        let digits = operand.drop { $0 == "-" }
        return digits.contains(".") && digits.allSatisfy { $0.isNumber || $0 == "." || $0 == "_" || $0 == "e" }
    }

    /// Literals, limits, and counts of what is in memory.
    private static func isConstant(_ operand: String) -> Bool {
        guard !operand.isEmpty else { return false }
        if operand.allSatisfy({ $0.isHexDigit || $0 == "_" || $0 == "x" }) { return operand.first?.isNumber == true }
        // C's constants: `CURL_ERROR_SIZE`, `SOCK_STREAM.rawValue`.
        let name = operand.hasSuffix(".rawValue") ? operand.dropLast(".rawValue".count) : operand[...]
        let isMacro = name.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "_" } && name.contains("_")
        if isMacro || name.hasPrefix("CURL_") { return true }
        let isNamed = ["Limits.", "Self.", "MemoryLayout<"].contains { operand.hasPrefix($0) }
        return (isNamed && !operand.contains("(")) || operand.hasSuffix(".count")
    }

    private static func operand(endingWith word: String) -> String {
        String(word.drop { "([{!-".contains($0) })
    }

    private static func operand(startingWith word: String) -> String {
        var text = word.drop { "(!-".contains($0) }
        while let last = text.last, ",)]};".contains(last) { text.removeLast() }
        return String(text)
    }

    // MARK: Conversions

    private static let integers = [
        "Int", "UInt", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "CInt", "CUnsignedInt",
        "CLong", "off_t", "socklen_t", "time_t", "curl_off_t",
    ]
    private static let safeLabels = [
        "clamping:", "exactly:", "truncatingIfNeeded:", "bitPattern:", "littleEndian:", "bigEndian:", "ascii:",
    ]

    private static func conversion(in line: String) -> String? {
        for integer in integers {
            var rest = Substring(line)
            while let found = rest.range(of: "\(integer)(") {
                let before = rest[..<found.lowerBound].last
                let argument = rest[found.upperBound...]
                let isWord = before.map { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." } ?? false
                let text = String(line[..<found.lowerBound])
                rest = argument
                if isWord || isSafe(argument) || isOptional(text, argument) { continue }
                return "\(integer)(\(argument.prefix { $0 != ")" }))"
            }
        }
        return nil
    }

    private static func isSafe(_ argument: Substring) -> Bool {
        if safeLabels.contains(where: argument.hasPrefix) || argument.hasPrefix(")") { return true }
        let inner = String(argument.prefix { $0 != ")" })
        return isConstant(inner) && !inner.contains(" ")
    }

    /// `guard let x = Int(text)` and `Int(text) ?? 0` compile only where the initializer is the optional one of text.
    private static func isOptional(_ before: String, _ argument: Substring) -> Bool {
        // A binding that does not begin its line is a condition's: `guard let`, `if let`, `…, let`.
        let words = before.split(separator: " ")
        let isBinding = words.count > 3 && words.suffix(3).first == "let" && words.last == "="
        if isBinding { return true }
        // `flatMap { Int($0) }` takes what is optional.
        if ["latMap { ", "mpactMap { ", "latMap({ ", "mpactMap({ "].contains(where: before.hasSuffix) { return true }
        var depth = 1
        let behind = argument.drop { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth > 0
        }.dropFirst()
        return behind.hasPrefix(" ??") || behind.hasPrefix(".map")
    }
}

extension Substring {
    /// Where a text begins and ends in it; nil when it is not there.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
