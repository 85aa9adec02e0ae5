import CVips

/// libvips itself: started once a process, with only the loaders in use.
package enum VipsLibrary {
    /// Loader classes that may read untrusted files, by descriptor or from memory; none takes a path.
    package static let loaders = [
        "VipsForeignLoadJpegSource", "VipsForeignLoadPngSource", "VipsForeignLoadNsgifSource",
        "VipsForeignLoadWebpSource", "VipsForeignLoadHeifSource", "VipsForeignLoadTiffSource",
        "VipsForeignLoadJp2kSource", "VipsForeignLoadJxlSource", "VipsForeignLoadSvgSource",
    ]

    /// Saver classes for stills, which write into memory.
    package static let savers = ["VipsForeignSaveJpegBuffer", "VipsForeignSavePngBuffer"]

    /// Families of allowed operations, all of which work on pixels alone. Excluded are operations that run programs
    /// (`VipsSystem`), read or write files, or draw text.
    package static let families = [
        "VipsArithmetic", "VipsStatistic", "VipsConversion", "VipsColour", "VipsColourspace", "VipsResample",
        "VipsThumbnail",
        // Conversions between sRGB and linear light, to gray, and from CMYK.
        "VipssRGB2scRGB", "VipsscRGB2sRGB", "VipsscRGB2BW", "VipsCMYK2XYZ",
        // Used to create alpha and borders.
        "VipsBlack",
        // libvips' built-in profiles; any other name would be a path, and none is passed.
        "VipsProfileLoad",
    ]

    /// Starts libvips; safe to call again.
    ///
    /// - Throws: The `VipsError` of the first call.
    package static func start() throws {
        try started.get()
    }

    private static let started: Result<Void, VipsError> = Result { () throws(VipsError) in
        try check(CVips_init_without_modules(), of: "init")
        loadModules()
        // One job uses one core; the pool decides how many jobs run. No cache: no two jobs share a file.
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        try check(CVips_prepare_vector_code(), of: "init")
        CVips_block_all_operations()
        // libvips counts the loaders of JPEG 2000, JPEG XL and SVG among the untrusted ones: they run only in the
        // sandbox, and their limits are checked before they decode.
        for name in [families, loaders, savers].joined() { unsafe CVips_allow(name) }
    }

    /// Formats that are loadable modules in Debian's build, and built in elsewhere.
    private static let modules = ["vips-heif", "vips-jxl"]

    private static func loadModules() {
        guard let library = unsafe CVips_library_path() else { return }
        let path = unsafe String(cString: library)
        guard let slash = path.lastIndex(of: "/") else { return }
        let folder = "\(path[..<slash])/vips-modules-\(vips_version(0)).\(vips_version(1))"
        for name in modules { _ = unsafe CVips_load_module("\(folder)/\(name).so") }
    }

    /// The version in use, such as `8.14.1`.
    package static var version: String { "\(vips_version(0)).\(vips_version(1)).\(vips_version(2))" }

    /// Whether an operation class is allowed; nil where it does not exist.
    package static func isAllowed(_ className: String) -> Bool? {
        let answer = unsafe CVips_is_allowed(className)
        return answer < 0 ? nil : answer == 1
    }

    /// Names of all allowed operation classes, including loaders and savers.
    package static var allowedClasses: [String] {
        guard let names = unsafe CVips_allowed_classes() else { return [] }
        defer { unsafe g_strfreev(names) }
        var found: [String] = []
        while let name = unsafe names[found.count] { found.append(unsafe String(cString: name)) }
        return found.sorted()
    }

    /// Whether an operation exists, by nickname: `heifload_source`, `pngsave_buffer`.
    package static func hasOperation(_ nickname: String) -> Bool {
        unsafe vips_type_find("VipsOperation", nickname) != 0
    }
}

/// A failed libvips call and libvips' error text: for the log, never for a caller.
///
/// libvips has one error buffer for the whole process (`libvips/iofuncs/error.c`), so the text may be that of another
/// job: decide by which call failed, never by the text.
package struct VipsError: Error, Sendable, CustomStringConvertible {
    /// The operation that failed, as libvips names it.
    package let operation: String
    /// libvips' error text.
    package let text: String

    package var description: String { "libvips \(operation): \(text)" }

    /// Takes the text out of libvips' buffer, in one step under its lock.
    init(_ operation: String) {
        self.operation = operation
        guard let copy = unsafe vips_error_buffer_copy() else {
            text = ""
            return
        }
        text = unsafe String(cString: copy).split(separator: "\n").joined(separator: "; ")
        unsafe g_free(copy)
    }
}

/// Throws unless a libvips call returned 0.
func check(_ code: CInt, of operation: String) throws(VipsError) {
    guard code == 0 else { throw VipsError(operation) }
}
