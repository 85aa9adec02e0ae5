import CVips

/// libvips itself: started once a process, with nothing but the loaders in use.
package enum VipsLibrary {
    /// Loader classes that may see a stranger's file; the identified format picks among them.
    private static let allowedLoaders = [
        "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadNsgif", "VipsForeignLoadWebp",
        "VipsForeignLoadHeif", "VipsForeignLoadTiff",
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
        CVips_block_untrusted()
        CVips_block_all_loaders()
        for loader in allowedLoaders { unsafe CVips_allow(loader) }
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

    /// Whether an operation is there: `heifload_source`, `pngsave_buffer`.
    package static func hasOperation(_ nickname: String) -> Bool {
        unsafe vips_type_find("VipsOperation", nickname) != 0
    }
}
