// The part of ImageIO that samples/NotificationContent uses. Types of Core Foundation are those that they bridge to.
public import Foundation
public import UIKit

public typealias CFURL = URL
public typealias CFString = String
public typealias CFDictionary = [String: Any]

public final class CGImageSource {}

public let kCGImageSourceCreateThumbnailFromImageAlways: CFString = "a"
public let kCGImageSourceCreateThumbnailWithTransform: CFString = "b"
public let kCGImageSourceThumbnailMaxPixelSize: CFString = "c"

public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? { nil }
public func CGImageSourceGetCount(_ source: CGImageSource) -> Int { 0 }

public func CGImageSourceCreateThumbnailAtIndex(
    _ source: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? { nil }

@discardableResult
public func CGAnimateImageAtURLWithBlock(
    _ url: CFURL, _ options: CFDictionary?, _ block: @escaping (Int, CGImage, UnsafeMutablePointer<Bool>) -> Void
) -> Int32 { 0 }
