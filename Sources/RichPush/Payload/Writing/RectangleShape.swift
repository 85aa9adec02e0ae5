/// A clipping rectangle in the shape that a payload has it in.
extension FieldShapes {
    func rect(_ found: PayloadValue) -> Change {
        guard let wanted = options?.thumbnailClippingRect else { return .remove }
        if item.options.clippingRect == wanted { return .keep }
        let sides = [wanted.x, wanted.y, wanted.width, wanted.height].map(PayloadValue.number)
        if let steps = Self.steps(of: found) {
            return .writeParts(
                zip(steps, sides).compactMap { steps, side in
                    found.standing(at: PayloadPath(steps)).flatMap { Self.part(steps, was: $0, is: side) }
                })
        }
        let isApples = item.fields[.clippingRect]?.steps.contains { step in
            if case .key(let key) = step { key.contains("UNNotificationAttachment") } else { false }
        }
        let names = Self.names[isApples == true ? 0 : 1]
        return .write(.object(zip(names, sides).map { PayloadMember($0, $1) }))
    }

    /// Core Graphics' own, and what everybody else writes.
    private static let names = [["X", "Y", "Width", "Height"], ["x", "y", "width", "height"]]

    /// Where the four sides stand, in an object or in JSON inside a string; nil when they are not all there.
    private static func steps(of found: PayloadValue) -> [[PayloadPath.Step]]? {
        let before: [PayloadPath.Step] = found.string == nil ? [] : [.text]
        return names.map { $0.map { before + [.key($0)] } }.first { sides in
            sides.allSatisfy { found.standing(at: PayloadPath($0)) != nil }
        }
    }

    /// What says the same already keeps its spelling, and a number in a string stays in one.
    private static func part(_ steps: [PayloadPath.Step], was: PayloadValue, is new: PayloadValue) -> Part? {
        guard case .number(let text) = new else { return nil }
        if let old = was.string { return Double(old) == new.double ? nil : Part(steps: steps, value: .string(text)) }
        return was.double == new.double ? nil : Part(steps: steps, value: new)
    }
}
