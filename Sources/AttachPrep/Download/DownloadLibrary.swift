import Curl

/// What downloads are made with: for `doctor`.
public enum DownloadLibrary {
    /// libcurl's own word on its version and what it was built with.
    public static var version: String { CurlLibrary.version }
}
