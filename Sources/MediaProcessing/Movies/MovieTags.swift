/// Tags of movies and sounds.
enum MovieTags {
    /// What containers and their writers say of themselves; by libav's names, in small letters.
    private static let technical: Set<String> = [
        "major_brand", "minor_version", "compatible_brands", "encoder", "handler_name", "vendor_id", "language",
        "duration", "isvbr", "wmfsdkversion", "wmfsdkneeded", "deviceconformancetemplate", "timecode", "rotate",
        "hasvideo", "hasaudio", "hasmetadata", "haskeyframes", "canseektoend", "software", "variant_bitrate",
        "id3v2_priv",
    ]
    private static let technicalPrefixes = ["_statistics", "bps", "number_of_", "source_id", "replaygain", "r128_"]

    /// Whether one of the names is of a tag that tells place, device, person or work.
    static func tellOfTheirMaker(_ names: [String]) -> Bool {
        names.contains { name in
            let name = name.lowercased()
            return !technical.contains(name) && !technicalPrefixes.contains { name.hasPrefix($0) }
        }
    }
}
