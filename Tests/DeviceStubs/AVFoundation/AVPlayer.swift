// The part of AVFoundation that samples/NotificationContent uses.
public import Foundation
public import UIKit

@MainActor public final class AVPlayer {
    public init(url: URL) {}
    public func play() {}
    public func pause() {}
}

@MainActor public final class AVPlayerLayer: CALayer {
    public var player: AVPlayer?
}
