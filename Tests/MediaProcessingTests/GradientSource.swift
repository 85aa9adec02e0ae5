/// ffmpeg's `gradients` with colours of ours: it draws its own anew each time, whatever its seed, and some of them pack
/// into half of what others need.
enum GradientSource {
    private static let colours = ["1b3a6b", "d9a441", "2f7d4f", "b8433a", "e8e2d0", "5a3d7a", "3fa7b5", "20242a"]

    /// - Parameter count: of colours, at most eight.
    static func of(_ width: Int, _ height: Int, seed: Int, colours count: Int, _ more: String = "") -> String {
        let named = colours.prefix(count).enumerated().map { "c\($0)=0x\($1)" }.joined(separator: ":")
        return "gradients=s=\(width)x\(height):seed=\(seed):n=\(count):d=1:\(named)\(more)"
    }
}
