/// Parses the names of files.
package enum FileName {
    /// The extension of a URL's path or of a file name, in lowercase; nil when there is none.
    package static func fileExtension(of address: String) -> String? {
        var name = Substring(address)
        if let scheme = name.range(ofFirst: "://") {
            let path = name[scheme.upperBound...]
            guard let slash = path.firstIndex(of: "/") else { return nil }
            name = path[slash...]
        }
        name = name.prefix { $0 != "?" && $0 != "#" }
        if let slash = name.lastIndex(of: "/") { name = name[name.index(after: slash)...] }
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        let ending = name[name.index(after: dot)...]
        return ending.isEmpty ? nil : ending.lowercased()
    }
}
