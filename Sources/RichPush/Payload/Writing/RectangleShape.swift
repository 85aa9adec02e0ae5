/// A clipping rectangle in the shape that a payload has it in.
extension FieldShapes {
    func rect(_ found: PayloadValue) -> Change {
        guard let wanted = options?.thumbnailClippingRect else { return .remove }
        if item.options.clippingRect == wanted { return .keep }
        let sides = [wanted.x, wanted.y, wanted.width, wanted.height]
        if let steps = Self.steps(of: found) {
            let changed = zip(steps, sides).filter { step, side in found.value(at: [step])?.double != side }
            return .writeParts(
                Dictionary(changed.map { ($0.0, PayloadValue.number($0.1)) }, uniquingKeysWith: { first, _ in first }))
        }
        let isAppleShape = item.fields[.clippingRect]?.description.contains("UNNotificationAttachment") == true
        let names = isAppleShape ? Self.names[0] : Self.names[1]
        return .write(.object(zip(names, sides).map { PayloadMember($0, .number($1)) }))
    }

    /// Core Graphics' own, and what everybody else writes.
    private static let names = [["X", "Y", "Width", "Height"], ["x", "y", "width", "height"]]

    /// Where the four numbers stand: members of an object, or the elements of an array; nil when it is neither.
    private static func steps(of found: PayloadValue) -> [PayloadPath.Step]? {
        let byIndex = (0..<4).map(PayloadPath.Step.index)
        return (names.map { $0.map(PayloadPath.Step.key) } + [byIndex]).first { steps in
            steps.allSatisfy { found.value(at: [$0])?.double != nil }
        }
    }
}
