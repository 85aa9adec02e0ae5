/// Receipts: since version 2.
extension StoreSchema {
    /// `expires_at`: until when arrivals of a dispatch are counted. `has_surplus`: whether more came than can be.
    /// `report`: a digest of the device's own name for it. `used_at`: the last dispatch or arrival.
    /// `campaign_bucket`: how many durations fell into each `MillisecondBucket`; `kind` is a `CampaignDuration`.
    static let receipts = """
        CREATE TABLE campaign (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
            dispatches INTEGER NOT NULL DEFAULT 0, recipients INTEGER NOT NULL DEFAULT 0,
            attached INTEGER NOT NULL DEFAULT 0, thumbnail INTEGER NOT NULL DEFAULT 0, text INTEGER NOT NULL DEFAULT 0,
            send_longest INTEGER NOT NULL DEFAULT 0, attach_longest INTEGER NOT NULL DEFAULT 0,
            first_sent_at INTEGER NOT NULL, last_sent_at INTEGER NOT NULL,
            first_arrival_at INTEGER, last_arrival_at INTEGER, used_at INTEGER NOT NULL
        );
        CREATE INDEX campaign_use ON campaign (used_at);
        CREATE TABLE campaign_bucket (
            campaign INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE, kind INTEGER NOT NULL,
            bucket INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (campaign, kind, bucket)
        ) WITHOUT ROWID;
        CREATE TABLE dispatch (
            id INTEGER PRIMARY KEY, campaign INTEGER NOT NULL, sent_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL, recipients INTEGER NOT NULL, arrivals INTEGER NOT NULL DEFAULT 0,
            has_surplus INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX dispatch_age ON dispatch (expires_at);
        CREATE TABLE receipt (
            dispatch INTEGER NOT NULL, report BLOB NOT NULL, PRIMARY KEY (dispatch, report)
        ) WITHOUT ROWID;
        """
}

/// The durations that are measured of an arrival.
enum CampaignDuration: Int, Sendable {
    case sendToAttach = 0
    case attach = 1
}
