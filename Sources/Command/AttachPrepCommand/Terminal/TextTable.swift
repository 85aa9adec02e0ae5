/// A table with aligned columns, reduced to the width of the terminal.
struct TextTable: Sendable {
    struct Column: Sendable {
        let title: String
        /// Whether cells are aligned to the right.
        var isNumber = false
        /// The minimum width, in columns of the terminal.
        var width = 0
        /// Whether cells are cut in the middle, so that host and file name stay visible.
        var isAddress = false
    }

    /// A way to reduce the table's width for a narrow terminal.
    enum NarrowingStep: Sendable {
        /// Narrows a column, at most to this width.
        case narrow(String, to: Int)
        case leaveOut(String)
    }

    let columns: [Column]
    let rows: [[StyledText]]
    /// Applied in this order until the table fits.
    let narrowingSteps: [NarrowingStep]
    /// Whether the heading is printed to files and pipes, too; programs may rely on it.
    var hasHeadInFiles = false

    /// Spaces between two columns.
    private static let gap = 2

    /// The lines for a display.
    ///
    /// - Parameter hasHead: whether this is the first part of the table, with the heading.
    func lines(for display: Display, hasHead: Bool = true) -> [StyledText] {
        let hasHead = hasHead && !rows.isEmpty && (display.columns != nil || hasHeadInFiles)
        let head = hasHead ? [columns.map { StyledText($0.title, .heading) }] : []
        let widths = widths(of: head + rows, in: display.columns)
        return (head + rows).map { cells in
            let line = line(cells, widths: widths, display: display)
            return display.columns.map { line.cut(to: $0, mark: display.mark) } ?? line
        }
    }

    /// The width of each column; nil for an omitted one.
    private func widths(of rows: [[StyledText]], in available: Int?) -> [Int?] {
        var widths: [Int?] = columns.indices.map { index in
            rows.map { $0[index].columns }.reduce(columns[index].width, max)
        }
        guard let available else { return widths }
        for step in narrowingSteps {
            let shown = widths.compactMap { $0 }
            let excess = shown.reduce(0, +) + (shown.count - 1) * Self.gap - available
            guard excess > 0 else { break }
            switch step {
            case .narrow(let title, let minimum):
                guard let index = index(of: title), let width = widths[index], width > minimum else { continue }
                widths[index] = max(minimum, width - excess)
            case .leaveOut(let title):
                if let index = index(of: title) { widths[index] = nil }
            }
        }
        return widths
    }

    private func index(of title: String) -> Int? { columns.firstIndex { $0.title == title } }

    private func line(_ cells: [StyledText], widths: [Int?], display: Display) -> StyledText {
        let last = widths.lastIndex { $0 != nil }
        var line = StyledText()
        for (index, cell) in cells.enumerated() {
            guard let width = widths[index] else { continue }
            let cut =
                columns[index].isAddress
                ? cell.cutInside(to: width, mark: display.mark) : cell.cut(to: width, mark: display.mark)
            if columns[index].isNumber {
                line = line + cut.filled(to: width, atRight: true)
            } else {
                line = line + (index == last ? cut : cut.filled(to: width))
            }
            if index != last { line = line + String(repeating: " ", count: Self.gap) }
        }
        return line
    }
}
