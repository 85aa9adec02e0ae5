/// Numbers that came from outside the process never meet an operation that can trap.
///
/// The rule cannot see types, so it looks at every arithmetic operator and every integer conversion in the files that
/// read foreign input (`readers`). An operation is accepted when it cannot trap (`adding(clamping:)`, `Int(exactly:)`,
/// `&+`, text parsed into an optional), when all of its operands are constants or counts of what is in memory, or when
/// a comment beside it or above it says what bounds it: `// Bounded: at most 16 bits each.` Where one bound holds for
/// more, as for loops over pixels, `// Bounded throughout: …` says it once: above a declaration for all of it, else to
/// the end of the block. Of what is `// Bounded throughout: floating point` conversions to integers are looked at.
enum ForeignNumberRules {
    /// Folders (with their slash) and files that read what a server, a file, a media process, a database, a queue or a
    /// caller wrote.
    static let readers: [String] = [
        "Sources/AttachPrep/AttachmentPreparer.swift",
        "Sources/AttachPrep/Deadline.swift",
        "Sources/AttachPrep/Download/",
        "Sources/AttachPrep/FileStamp.swift",
        "Sources/AttachPrep/MediaPool/",
        "Sources/AttachPrep/Network/",
        "Sources/AttachPrep/Payload/",
        "Sources/AttachPrep/Pipeline/",
        "Sources/AttachPrep/Plan/",
        "Sources/AttachPrep/Publish/",
        "Sources/AttachPrep/Quarantine/",
        "Sources/AttachPrep/Request/",
        "Sources/AttachPrepCommand/BatchSummary.swift",
        "Sources/AttachPrepCommand/Terminal/TerminalText.swift",
        "Sources/AttachPrepJobs/",
        "Sources/SQLiteQueue/",
        "Sources/JetStreamQueue/",
        "Sources/AttachPrepMedia/",
        "Sources/AttachPrepService/Access/RateLimiter.swift",
        "Sources/AttachPrepService/Access/SessionCookie.swift",
        "Sources/AttachPrepService/Configuration/ServeConfiguration.swift",
        "Sources/AttachPrepService/Configuration/SettingReader.swift",
        "Sources/AttachPrepService/Connection/",
        "Sources/AttachPrepService/Metrics/PrometheusRegistry.swift",
        "Sources/AttachPrepService/Routes/",
        "Sources/Curl/",
        "Sources/JPEG/",
        "Sources/LibAV/",
        "Sources/Linux/ChildProcess.swift",
        "Sources/Linux/MessageSocket.swift",
        "Sources/Magic/",
        "Sources/MediaProcessMain/",
        "Sources/MediaEngine/",
        "Sources/MediaProcessing/",
        "Sources/NATS/",
        "Sources/OTLP/",
        "Sources/PNG/",
        "Sources/RichPush/ClippingRect.swift",
        "Sources/RichPush/Device/",
        "Sources/RichPush/JSON/",
        "Sources/RichPush/Payload/PayloadMedia.swift",
        "Sources/PushPayload/FittedPayload.swift",
        "Sources/PushPayload/MediaFieldChanges.swift",
        "Sources/PushPayload/MediaItemCheck.swift",
        "Sources/PushPayload/PayloadCheck.swift",
        "Sources/AttachPrepModel/Int+Grouped.swift",
        "Sources/AttachPrepModel/Manifest.swift",
        "Sources/AttachPrepModel/NetworkProfile.swift",
        "Sources/RichPush/ThumbnailTime.swift",
        "Sources/Vips/",
        "Sources/WebP/",
        "Sources/Zlib/",
    ]

    /// What lies in those folders but takes no number out of a file: arithmetic on our own pixels, whose count was
    /// checked (`ImageLimits`) before they were made, and on what our encoders wrote.
    static let exempt: [String] = [
        "Sources/MediaProcessing/Animations/AnimationLadder.swift",
        "Sources/MediaProcessing/Animations/ColorQuantizer.swift",
        "Sources/MediaProcessing/Animations/GIFFrameWriter.swift",
        "Sources/MediaProcessing/Animations/LZWEncoder.swift",
        "Sources/MediaProcessing/Animations/NearestColorFinder.swift",
        "Sources/MediaProcessing/Animations/UnsafeArray.swift",
        "Sources/MediaProcessing/Stills/EncodedSizePrediction.swift",
        "Sources/MediaProcessing/Stills/Pixels/BoxFilter.swift",
        "Sources/MediaProcessing/Stills/Pixels/PlanarImage.swift",
        "Sources/MediaProcessing/Stills/Pixels/PlaneResampler.swift",
        "Sources/MediaProcessing/Stills/Pixels/YCbCrConversion.swift",
    ]

    static let remedy = "use SafeArithmetic's clamping or exact forms, or say what bounds it: // Bounded: …"

    static func arithmetic(_ file: TextFile) -> [Finding] {
        guard file.isSwift, isReader(file.path) else { return [] }
        return findings(in: file)
    }

    /// The longest entry that names a file decides.
    static func isReader(_ path: String) -> Bool {
        func longest(_ entries: [String]) -> Int { entries.filter(path.hasPrefix).map(\.count).max() ?? 0 }
        return longest(readers) > longest(exempt)
    }

    /// Of any Swift file, whether listed or not.
    static func findings(in file: TextFile) -> [Finding] {
        file.code.enumerated().compactMap { index, line in
            guard let trap = trap(in: line), !isExplained(index, file.lines),
                let trap = left(of: trap, in: line, bound: boundThroughout(index, file.lines))
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

    /// What may trap although the declaration or block around has a bound.
    private static func left(of trap: String, in line: String, bound: Substring?) -> String? {
        guard let bound else { return trap }
        return bound.hasPrefix("floating point") ? conversion(in: line) ?? span(in: line) : nil
    }

    /// What the nearest comment says that holds for a line.
    private static func boundThroughout(_ index: Int, _ lines: [Substring]) -> Substring? {
        var left = indentation(lines[index])
        for above in lines.indices[..<index].reversed() {
            let words = lines[above].drop(while: \.isWhitespace)
            guard !words.isEmpty else { continue }
            let own = indentation(lines[above])
            if words.hasPrefix(throughout), own <= left, holds(above, for: index, isBlock: own == left, lines) {
                return words.dropFirst(throughout.count)
            }
            left = min(left, own)
        }
        return nil
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

    /// The first operation of a line that may trap.
    private static func trap(in line: String) -> String? {
        operation(in: line) ?? conversion(in: line) ?? span(in: line)
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
            // A span by a span is a floating-point number; a moment and a span fit, since `span` looks at each span.
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
        // A span of a constant: every clock can hold it, and a quotient of spans is a floating-point number.
        for unit in [".seconds(", ".milliseconds("] where operand.hasPrefix(unit) {
            let span = operand.dropFirst(unit.count)
            return span.hasPrefix("clamping:") || isConstant(String(span))
        }
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

    // MARK: Time

    private static func span(in line: String) -> String? {
        for unit in [".seconds(", ".milliseconds(", ".microseconds(", ".nanoseconds("] {
            var rest = Substring(line)
            while let found = rest.range(of: unit) {
                // `timeBase.seconds(ticks)` asks something of its own, `Duration.seconds(count)` makes a span.
                let owner = rest[..<found.lowerBound].reversed().prefix {
                    $0.isLetter || $0.isNumber || "?)]".contains($0)
                }
                let isMethod = !owner.isEmpty && String(owner.reversed()) != "Duration"
                rest = rest[found.upperBound...]
                if isMethod { continue }
                // `reader.seconds(.drain)` names something, `case .seconds(let value)` takes a value out.
                let isName = rest.first == "." || rest.hasPrefix("let ")
                if !isSafe(rest), !(rest.first?.isNumber ?? false), !isName {
                    return "\(unit)\(rest.prefix { $0 != ")" }))"
                }
            }
        }
        return nil
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
