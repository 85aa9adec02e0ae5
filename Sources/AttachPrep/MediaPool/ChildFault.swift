import MediaEngine

/// Why a child is ended in the middle of a call.
enum ChildFault: Error, Hashable {
    /// The deadline came first.
    case late
    /// It closed its socket, as one that crashed does.
    case closed
    /// It took more memory than it may; resident bytes.
    case overMemory(Int)
    /// It said what no child of ours says.
    case nonsense(String)
    /// It could not be talked to.
    case unreachable(String)
}
