/// The namespace of all limits, with the unit in each name and the reason in its comment.
///
/// Each limit is declared in an `extension Limits` at the end of the file whose code enforces it, and is checked as
/// early as possible: a declared length before the body, the received length during the transfer, pixel and frame
/// counts before decoding.
public enum Limits {}
