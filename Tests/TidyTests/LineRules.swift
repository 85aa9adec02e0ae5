/// Rules about single lines.
enum LineRules {
    static let columnsMax = 120

    /// Words that mean "not finished"; spelled in halves so that this file does not hold them.
    static let markers = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]

    static func length(_ file: TextFile) -> [Finding] {
        guard file.isCode else { return [] }
        return file.lines.enumerated().compactMap { index, line in
            line.count > columnsMax
                ? Finding(file.path, index + 1, "\(line.count) columns; break the line at \(columnsMax)") : nil
        }
    }

    static func markerWords(_ file: TextFile) -> [Finding] {
        file.lines.enumerated().compactMap { index, line in
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            guard let marker = markers.first(where: { words.contains(Substring($0)) }) else { return nil }
            return Finding(file.path, index + 1, "\(marker): do it now, or open an issue and say why not")
        }
    }

    static func ending(_ file: TextFile) -> [Finding] {
        guard !file.text.isEmpty, !file.text.hasSuffix("\n") else { return [] }
        return [Finding(file.path, file.lines.count, "the file does not end with a line feed; add one")]
    }

    static func tabs(_ file: TextFile) -> [Finding] {
        guard file.isSwift || file.name.hasSuffix(".h") else { return [] }
        return file.lines.enumerated().compactMap { index, line in
            line.contains("\t") ? Finding(file.path, index + 1, "a tab; indent with four spaces") : nil
        }
    }
}
