import CVips

/// libvips itself: started once a process, with nothing but the loaders in use.
package enum VipsLibrary {
    /// Loader classes that may see a stranger's file, by descriptor or from memory; none takes a path.
    package static let loaders = [
        "VipsForeignLoadJpegSource", "VipsForeignLoadPngSource", "VipsForeignLoadNsgifSource",
        "VipsForeignLoadWebpSource", "VipsForeignLoadHeifSource", "VipsForeignLoadTiffSource",
    ]

    /// Saver classes: into memory, what stills are written as.
    package static let savers = ["VipsForeignSaveJpegBuffer", "VipsForeignSavePngBuffer"]

    /// Families of operations that work on pixels alone, and what they are made of. Not among them: what runs programs
    /// (`VipsSystem`), reads or writes files, draws text or draws SVG.
    package static let families = [
        "VipsArithmetic", "VipsStatistic", "VipsConversion", "VipsColour", "VipsColourspace", "VipsResample",
        "VipsThumbnail",
        // Between sRGB and linear light, to grey, and out of CMYK.
        "VipssRGB2scRGB", "VipsscRGB2sRGB", "VipsscRGB2BW", "VipsCMYK2XYZ",
        // What alpha and borders are made of.
        "VipsBlack",
        // The profiles that libvips has within itself; a name of any other would be a path, and we give none.
        "VipsProfileLoad",
    ]

    /// Starts libvips; safe to call again.
    ///
    /// - Throws: the `VipsError` of the first call.
    package static func start() throws {
        try started.get()
    }

    private static let started: Result<Void, VipsError> = Result { () throws(VipsError) in
        try check(CVips_init_without_modules(), "init")
        loadHEIFModule()
        // One job uses one core; the pool decides how many jobs run. No cache: no two jobs share a file.
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        try check(CVips_prepare_vector_code(), "init")
        CVips_block_all_operations()
        // Bounded: lists.
        for name in families + loaders + savers { unsafe CVips_allow(name) }
        CVips_block_untrusted()
    }

    /// HEIC and AVIF are a module in Debian's build and built in elsewhere, where there is nothing to load.
    private static func loadHEIFModule() {
        guard let library = unsafe CVips_library_path() else { return }
        let path = unsafe String(cString: library)
        guard let slash = path.lastIndex(of: "/") else { return }
        let folder = "\(path[..<slash])/vips-modules-\(vips_version(0)).\(vips_version(1))"
        _ = unsafe CVips_load_module("\(folder)/vips-heif.so")
    }

    /// The version in use, as in `8.14.1`.
    package static var version: String { "\(vips_version(0)).\(vips_version(1)).\(vips_version(2))" }

    /// Whether an operation is there and allowed; nil where there is none of that class.
    package static func isAllowed(_ className: String) -> Bool? {
        let answer = unsafe CVips_is_allowed(className)
        return answer < 0 ? nil : answer == 1
    }

    /// Classes of all operations that are allowed, loaders and savers among them.
    package static var allowedClasses: [String] {
        guard let names = unsafe CVips_allowed_classes() else { return [] }
        defer { unsafe g_strfreev(names) }
        var found: [String] = []
        while let name = unsafe names[found.count] { found.append(unsafe String(cString: name)) }
        return found.sorted()
    }

    /// Whether an operation is there: `heifload_source`, `pngsave_buffer`.
    package static func hasOperation(_ nickname: String) -> Bool {
        unsafe vips_type_find("VipsOperation", nickname) != 0
    }
}
