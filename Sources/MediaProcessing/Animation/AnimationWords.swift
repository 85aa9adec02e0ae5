import RichPush
import SafeArithmetic

/// What the manifest says of an animation that was written anew.
struct AnimationWords {
    private(set) var concessions: [String] = []
    private(set) var warnings: [PreparationWarning] = []

    init(_ found: AnimationSearch.Found, _ facts: AnimationFacts, bytesMax: Int) {
        let step = found.step
        let goal = "to fit \(bytesMax) bytes"
        let (frames, all) = (found.entries.count, facts.delays.count)
        if step.tolerance > 0 {
            let most = Int(clamping: step.tolerance.rounded(.up))
            concessions.append("pixels may be off by up to \(most) of 255 \(goal)")
        }
        if step.colours < 256 { concessions.append("palettes were reduced to \(step.colours) colours \(goal)") }
        if step.rate != .all { concessions.append("\(all - frames) of \(all) frames were dropped \(goal)") }
        if step.scale < 1 {
            concessions.append("the animation was reduced to \(found.width) x \(found.height) pixels \(goal)")
        }
        if found.entries.count < facts.delays.count {
            warnings.append(
                PreparationWarning(
                    .framesDropped, "\(found.entries.count) of \(facts.delays.count) frames are left."))
        }
        if found.isHurried {
            warnings.append(
                PreparationWarning(.deadlineDegraded, "Time was short, so frames of the animation were left out."))
        }
    }
}
