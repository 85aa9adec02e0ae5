import AttachPrepJobs

/// What became of the receipts of a request: those that were taken need not be sent again.
struct ReceiptsAnswer: Encodable {
    /// All that were taken.
    let accepted: Int
    /// Those of them that were new.
    let counted: Int
    /// Those that will never be taken, with their places from 1.
    let refused: [Problem.Line]

    init(_ standings: [ArrivalStanding], refused: [Problem.Line]) {
        accepted = standings.count
        counted = standings.count { standing in
            if case .counted = standing { true } else { false }
        }
        self.refused = refused
    }
}
