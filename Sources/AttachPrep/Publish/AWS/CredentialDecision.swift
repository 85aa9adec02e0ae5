import RichPush

/// Where credentials come from, in the order of the AWS tools. Pure.
///
/// Environment, then what the profile says: a role, single sign-on, keys in the credentials file, a program, keys in
/// the configuration. What has to be asked of somebody else (roles, sign-on, programs, the machine) is not done, and is
/// said so rather than passed over: another key than the one that is meant would write into another's bucket.
/// <https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html>
enum CredentialDecision {
    /// - Throws: `publish.denied`, with what is missing or not done.
    static func credentials(_ environment: [String: String], _ profile: AWSProfile, isProfileAsked: Bool)
        throws(AttachPrepError) -> AWSCredentials
    {
        if let keys = try keys(
            of: environment, named: ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", ["AWS_SESSION_TOKEN"]),
            from: "the environment")
        {
            return keys
        }
        if profile["role_arn"] != nil { throw notDone("an assumed role", by: profile) }
        if environment.value("AWS_WEB_IDENTITY_TOKEN_FILE") != nil {
            throw notDone("a web identity (AWS_WEB_IDENTITY_TOKEN_FILE)", by: nil)
        }
        if profile["sso_session"] != nil || profile["sso_start_url"] != nil {
            throw notDone("single sign-on", by: profile)
        }
        if let keys = try keys(of: profile.credentials, in: "the credentials file", profile) { return keys }
        if profile["credential_process"] != nil { throw notDone("a program (credential_process)", by: profile) }
        if let keys = try keys(of: profile.configuration, in: "the configuration", profile) { return keys }
        for name in ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"]
        where environment.value(name) != nil {
            throw notDone("the container's role (\(name))", by: nil)
        }
        throw isProfileAsked && profile.credentials == nil && profile.configuration == nil
            ? unknown(profile.name) : missing(profile.name)
    }

    private static func keys(of section: [String: String]?, in file: String, _ profile: AWSProfile)
        throws(AttachPrepError) -> AWSCredentials?
    {
        let names = ("aws_access_key_id", "aws_secret_access_key", ["aws_session_token", "aws_security_token"])
        return try keys(of: section ?? [:], named: names, from: "the profile \"\(profile.name)\" of \(file)")
    }

    private static func keys(
        of values: [String: String], named names: (id: String, secret: String, tokens: [String]), from origin: String
    ) throws(AttachPrepError) -> AWSCredentials? {
        let (id, secret) = (values.value(names.id), values.value(names.secret))
        guard id != nil || secret != nil else { return nil }
        guard let id, let secret else {
            throw AttachPrepError(
                .publishDenied,
                "Of the S3 credentials in \(origin) only one half is there; give both \(names.id) and \(names.secret).")
        }
        return try AWSCredentials(
            accessKeyID: id, secretAccessKey: secret,
            sessionToken: names.tokens.lazy.compactMap { values.value($0) }.first, from: origin)
    }

    private static func notDone(_ what: String, by profile: AWSProfile?) -> AttachPrepError {
        let who = profile.map { "The profile \"\($0.name)\"" } ?? "The environment"
        return AttachPrepError(
            .publishDenied,
            "\(who) asks for \(what), which attachprep does not do; give it keys, such as `aws configure "
                + "export-credentials` prints.")
    }

    private static func unknown(_ name: String) -> AttachPrepError {
        AttachPrepError(
            .publishDenied,
            "There is no profile \"\(name)\" in the credentials file or the configuration; correct AWS_PROFILE.")
    }

    private static func missing(_ name: String) -> AttachPrepError {
        AttachPrepError(
            .publishDenied,
            "There are no S3 credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to the "
                + "profile \"\(name)\" of the credentials file. The machine's own role is not asked.")
    }
}
