/// Keys and papers of nobody, made for these tests; they open nothing.
enum TestIdentities {
    /// A user's seed, and its public key.
    static let seed = "SUAAKVENLH3VSPAL4WZD3UZGZ4ZSGALYJHVSD4TF3NWSE2U5IEP444Y2RI"
    static let publicKey = "UCRJD4LNYFETBCRP4KONQ3BQD7HT33I27CWTNBKOBCJG7YTXH7TSLOGO"

    /// An operator that a server trusts.
    static let operatorPaper = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJURVNUT1AiLCJpYXQiOjE3MDAwMDAwMDAsImlzcyI6I\
        k9CSVI0NzRCUTM2UTdGS0pLN0VOQTZKWTMyUkE1REhRUEJKV1lFRDRLS0RZMk5DSVBQRFlHTzQ1IiwibmFtZSI6Im9wIiwic3ViI\
        joiT0JJUjQ3NEJRMzZRN0ZLSks3RU5BNkpZMzJSQTVESFFQQkpXWUVENEtLRFkyTkNJUFBEWUdPNDUiLCJuYXRzIjp7InR5cGUiO\
        iJvcGVyYXRvciIsInZlcnNpb24iOjJ9fQ.FDnQGyYOgQ-FQaX2naJEIXGjbvzfr12TI2tPiYI0uZy4HYCsLOhSkhZqYhILI1Cca4\
        WEdvbcMgNEW147Si-oAA
        """

    /// An account of that operator's.
    static let account = "AAKJ5KIRVDTN4SRFI7PEDM6BK7YIXFOJS4FWLCYIESSE6DQZCTNWBT6C"

    /// What the operator says of it.
    static let accountPaper = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJURVNUQUNDIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiO\
        iJPQklSNDc0QlEzNlE3RktKSzdFTkE2SlkzMlJBNURIUVBCSldZRUQ0S0tEWTJOQ0lQUERZR080NSIsIm5hbWUiOiJhY2MiLCJzd\
        WIiOiJBQUtKNUtJUlZEVE40U1JGSTdQRURNNkJLN1lJWEZPSlM0RldMQ1lJRVNTRTZEUVpDVE5XQlQ2QyIsIm5hdHMiOnsibGlta\
        XRzIjp7InN1YnMiOi0xLCJkYXRhIjotMSwicGF5bG9hZCI6LTEsImltcG9ydHMiOi0xLCJleHBvcnRzIjotMSwid2lsZGNhcmRzI\
        jp0cnVlLCJjb25uIjotMSwibGVhZiI6LTF9LCJ0eXBlIjoiYWNjb3VudCIsInZlcnNpb24iOjJ9fQ.xOokf6Lj45W8j6rNyM1sPe\
        8lvvkkp34XQM8uPn8DUWnr0KkSfSHUpXT6lybvQ6ZSYWZsc8JazP4uuDF_XcHRBQ
        """

    /// What the account says of a user.
    static let userPaper = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJURVNUVVNSIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiO\
        iJBQUtKNUtJUlZEVE40U1JGSTdQRURNNkJLN1lJWEZPSlM0RldMQ1lJRVNTRTZEUVpDVE5XQlQ2QyIsIm5hbWUiOiJ1c3IiLCJzd\
        WIiOiJVQ0g0NFlIR0pMVEhNRzVBQk5HU1FIWURZQVhFRjJMS1oyNklDV1hXTUhPU01TRjM1WEk2UVJaSiIsIm5hdHMiOnsic3Vic\
        yI6LTEsImRhdGEiOi0xLCJwYXlsb2FkIjotMSwidHlwZSI6InVzZXIiLCJ2ZXJzaW9uIjoyfX0.nh1AoJdsgfE-X2wnl5gDit5GO\
        -ZkZU2-2HPcdDVIwquMmV5MNz1EkKPxaw1R-npWe3ee6HBvfXpYR2cXRfbYBA
        """

    /// That user's credentials file.
    static let credentials = """
        -----BEGIN NATS USER JWT-----
        \(userPaper)
        ------END NATS USER JWT------

        -----BEGIN USER NKEY SEED-----
        SUACVGCJXQWOZ3X32U26IAME75THJCIGS2MRYEBCHJ46QM3GYPSYT4MYNM
        ------END USER NKEY SEED------

        """
}
