import AVFoundation
import Foundation
import ImageIO
import UIKit
import UserNotifications
import UserNotificationsUI

/// Draws the expanded notification: its attachments as pages, a picture, an animated GIF or a movie each.
final class NotificationViewController: UIViewController, UNNotificationContentExtension, UIScrollViewDelegate {
    private let pages = UIScrollView()
    private let dots = UIPageControl()
    private let text = UILabel()
    private var pageViews: [PageView] = []
    /// Files that stay readable while they are shown.
    private var openFiles: [URL] = []

    override func viewDidLoad() {
        super.viewDidLoad()
        pages.isPagingEnabled = true
        pages.showsHorizontalScrollIndicator = false
        pages.delegate = self
        dots.hidesForSinglePage = true
        text.numberOfLines = 0
        [pages, dots, text].forEach(view.addSubview)
    }

    /// Called for the notification, and again for later ones of its thread while it is shown.
    func didReceive(_ notification: UNNotification) {
        close()
        let content = notification.request.content
        text.text = [content.title, content.body].filter { !$0.isEmpty }.joined(separator: "\n")
        for attachment in content.attachments {
            // iOS has moved the file into its store, which the extension may read only in between.
            guard attachment.url.startAccessingSecurityScopedResource() else { continue }
            openFiles.append(attachment.url)
            let page = attachment.type == "public.mpeg-4" ? MoviePage(attachment.url) : ImagePage(attachment.url)
            pageViews.append(page)
            pages.addSubview(page)
        }
        dots.numberOfPages = pageViews.count
        preferredContentSize = CGSize(width: view.bounds.width, height: pageHeight + textHeight)
        view.setNeedsLayout()
    }

    override func viewDidLayoutSubviews() {
        super.viewDidLayoutSubviews()
        let size = CGSize(width: view.bounds.width, height: pageHeight)
        pages.frame = CGRect(origin: .zero, size: size)
        text.frame = CGRect(x: 16, y: size.height, width: size.width - 32, height: textHeight)
        for (index, page) in pageViews.enumerated() {
            page.frame = CGRect(x: CGFloat(index) * size.width, y: 0, width: size.width, height: size.height)
        }
        pages.contentSize = CGSize(width: CGFloat(pageViews.count) * size.width, height: size.height)
        dots.frame = CGRect(x: 0, y: size.height - 28, width: size.width, height: 28)
    }

    private var pageHeight: CGFloat { view.bounds.width * (pageViews.first?.heightOfWidth ?? 0) }

    private var textHeight: CGFloat {
        text.sizeThatFits(CGSize(width: view.bounds.width - 32, height: .greatestFiniteMagnitude)).height + 24
    }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        close()
    }

    func scrollViewDidEndDecelerating(_ scrollView: UIScrollView) {
        dots.currentPage = Int((pages.contentOffset.x / max(pages.bounds.width, 1)).rounded())
        for (index, page) in pageViews.enumerated() where index != dots.currentPage {
            (page as? MoviePage)?.player.pause()
        }
    }

    // MARK: The system's play button, which appears over the first movie

    private var movie: (index: Int, page: MoviePage)? {
        pageViews.enumerated().lazy.compactMap { index, page in (page as? MoviePage).map { (index, $0) } }.first
    }

    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType {
        movie == nil ? .none : .overlay
    }

    var mediaPlayPauseButtonFrame: CGRect {
        CGRect(x: pages.frame.midX - 30, y: pages.frame.midY - 30, width: 60, height: 60)
    }

    var mediaPlayPauseButtonTintColor: UIColor { .white }

    func mediaPlay() {
        guard let movie else { return }
        pages.setContentOffset(CGPoint(x: movie.page.frame.minX, y: 0), animated: true)
        dots.currentPage = movie.index
        movie.page.player.play()
    }

    func mediaPause() {
        movie?.page.player.pause()
    }

    private func close() {
        pageViews.forEach { $0.removeFromSuperview() }
        pageViews = []
        openFiles.forEach { $0.stopAccessingSecurityScopedResource() }
        openFiles = []
    }
}

/// One attachment.
class PageView: UIView {
    /// Height divided by width.
    var heightOfWidth: CGFloat { 1 }
}

/// A picture, decoded at the size of the screen, or an animated image, decoded frame by frame.
final class ImagePage: PageView {
    private let imageView = UIImageView()

    init(_ url: URL) {
        super.init(frame: .zero)
        imageView.contentMode = .scaleAspectFit
        addSubview(imageView)
        guard let source = CGImageSourceCreateWithURL(url as CFURL, nil) else { return }
        let options: [CFString: Any] = [
            kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceCreateThumbnailWithTransform: true,
            kCGImageSourceThumbnailMaxPixelSize: 1_290,
        ]
        let still = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary)
        imageView.image = still.map { UIImage(cgImage: $0) }
        guard CGImageSourceGetCount(source) > 1 else { return }
        CGAnimateImageAtURLWithBlock(url as CFURL, nil) { [weak self] _, frame, stop in
            guard let self else { return stop.pointee = true }
            imageView.image = UIImage(cgImage: frame)
        }
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override var heightOfWidth: CGFloat {
        guard let size = imageView.image?.size, size.width > 0 else { return 1 }
        return size.height / size.width
    }

    override func layoutSubviews() {
        super.layoutSubviews()
        imageView.frame = bounds
    }
}

/// A movie, which the system's button plays.
final class MoviePage: PageView {
    let player: AVPlayer

    override class var layerClass: AnyClass { AVPlayerLayer.self }

    init(_ url: URL) {
        player = AVPlayer(url: url)
        super.init(frame: .zero)
        (layer as? AVPlayerLayer)?.player = player
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override var heightOfWidth: CGFloat { 9 / 16 }
}
