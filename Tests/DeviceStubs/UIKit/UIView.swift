// The part of UIKit that samples/NotificationContent uses, with the signatures of Apple's SDK, so that it can be
// type-checked on Linux.
public import Foundation

@MainActor open class CALayer {
    public init() {}
}

@MainActor open class UIView {
    public enum ContentMode: Int, Sendable {
        case scaleToFill, scaleAspectFit
    }

    public init(frame: CGRect) {}
    public required init?(coder: NSCoder) { nil }

    public init() {}
    public var frame = CGRect.zero
    public var bounds = CGRect.zero
    public var contentMode = ContentMode.scaleToFill
    public let layer = CALayer()
    open class var layerClass: AnyClass { CALayer.self }
    open func addSubview(_ view: UIView) {}
    open func removeFromSuperview() {}
    open func setNeedsLayout() {}
    open func layoutSubviews() {}
    open func sizeThatFits(_ size: CGSize) -> CGSize { size }
}

public final class UIImage {
    public let size = CGSize.zero

    public init(cgImage: CGImage) {}
}

public final class CGImage {}

@MainActor open class UIImageView: UIView {
    public var image: UIImage?
}

@MainActor open class UILabel: UIView {
    public var text: String?
    public var numberOfLines = 1
}

@MainActor public final class UIColor {
    public static let white = UIColor()

    public init() {}
}

@MainActor public protocol UIScrollViewDelegate: AnyObject {
    func scrollViewDidEndDecelerating(_ scrollView: UIScrollView)
}

@MainActor open class UIScrollView: UIView {
    public var isPagingEnabled = false
    public var showsHorizontalScrollIndicator = true
    public weak var delegate: (any UIScrollViewDelegate)?
    public var contentSize = CGSize.zero
    public var contentOffset = CGPoint.zero
    open func setContentOffset(_ contentOffset: CGPoint, animated: Bool) {}
}

@MainActor open class UIPageControl: UIView {
    public var hidesForSinglePage = false
    public var numberOfPages = 0
    public var currentPage = 0
}

@MainActor open class UIViewController {
    public init() {}
    public let view = UIView()
    public var preferredContentSize = CGSize.zero
    open func viewDidLoad() {}
    open func viewDidLayoutSubviews() {}
    open func viewDidDisappear(_ animated: Bool) {}
}

extension URL {
    public func startAccessingSecurityScopedResource() -> Bool { true }
    public func stopAccessingSecurityScopedResource() {}
}
