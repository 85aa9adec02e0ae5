/// Who reads a stream: a person at a terminal of some width, or a file.
struct Display: Sendable, Hashable {
    /// Of the terminal; nil for files and pipes, where nothing is ever cut.
    var columns: Int?
    var isColoured = false
    /// Whether it shows more than ASCII.
    var isUTF8 = true
    /// Whether a line can be drawn again in its place.
    var canRedraw = false

    /// What stands where a text was cut.
    var mark: String { isUTF8 ? "…" : "..." }

    /// One line of a list: cut to the terminal's width.
    func row(_ text: StyledText) -> String {
        paragraph(columns.map { text.cut(to: $0, mark: mark) } ?? text)
    }

    /// A line that is whole in any case; a terminal breaks it.
    func paragraph(_ text: StyledText) -> String { isColoured ? text.painted : text.plain }
}

extension Display {
    /// What follows from the stream, the environment and the option.
    ///
    /// - Parameters:
    ///   - columns: of the terminal; nil when there is none.
    ///   - environment: the value of a variable, nil when it is not set.
    init(columns: Int?, colour: ColourChoice, environment: (String) -> String?) {
        let terminal = environment("TERM") ?? ""
        // A terminal that says nothing of itself is treated as one that can do nothing.
        let isCapable = columns != nil && !terminal.isEmpty && terminal != "dumb"
        // https://no-color.org: present and not empty.
        let isWanted = (environment("NO_COLOR") ?? "").isEmpty
        self.columns = columns
        isColoured = colour == .always || (colour == .auto && isCapable && isWanted)
        isUTF8 = Self.isUTF8(environment)
        canRedraw = isCapable
    }

    /// The first of the three that is set says it, as in setlocale(3).
    private static func isUTF8(_ environment: (String) -> String?) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(environment).first { !$0.isEmpty } ?? ""
        let name = locale.uppercased()
        return name.contains("UTF-8") || name.contains("UTF8")
    }
}
