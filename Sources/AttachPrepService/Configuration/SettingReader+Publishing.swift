import AttachPrep
import RichPush

extension SettingReader {
    /// Where files go.
    ///
    /// - Throws: `request.invalid`, whose sentence names the flag or the variable at fault.
    func publishPlace(environment: [String: String]) throws -> PublishPlace {
        guard let (text, name) = text(.publish) else { return .folder }
        let place: PublishPlace
        do {
            place = try PublishPlace(text, environment: environment)
        } catch {
            throw AttachPrepError(.requestInvalid, "\(name) cannot be \"\(text)\". \(error.message)")
        }
        guard case .bucket(var settings) = place else { return place }
        settings.endpoint = try address(.s3Endpoint)
        settings.region = self.text(.s3Region)?.value
        settings.usesPathStyle = try isOn(.s3PathStyle) ? true : nil
        settings.cacheControl = self.text(.s3CacheControl)?.value ?? settings.cacheControl
        return .bucket(settings)
    }

    /// A place that addresses begin with.
    func address(_ setting: Setting) throws -> String? {
        try value(setting, "give an http or https URL without a query.") { text in
            (try? WebAddress(text)) != nil && !text.contains("?") && !text.contains("#") ? text : nil
        }
    }
}
