-- The queue of format 1: one job that succeeded, with result, files, a trace and a
-- pending webhook; one that failed; one that is not due yet, with an idempotency key; an upload; a campaign.
PRAGMA application_id = 1096044626;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE campaign (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
    dispatches INTEGER NOT NULL DEFAULT 0, recipients INTEGER NOT NULL DEFAULT 0,
    attached INTEGER NOT NULL DEFAULT 0, thumbnail INTEGER NOT NULL DEFAULT 0, text INTEGER NOT NULL DEFAULT 0,
    send_longest INTEGER NOT NULL DEFAULT 0, attach_longest INTEGER NOT NULL DEFAULT 0,
    first_sent_at INTEGER NOT NULL, last_sent_at INTEGER NOT NULL,
    first_arrival_at INTEGER, last_arrival_at INTEGER, used_at INTEGER NOT NULL
);
INSERT INTO "campaign" VALUES(1,'summer',1,1000,0,0,0,0,0,1795576641010,1795576641010,NULL,NULL,1795576641010);
CREATE TABLE campaign_bucket (
    campaign INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE, kind INTEGER NOT NULL,
    bucket INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (campaign, kind, bucket)
) WITHOUT ROWID;
CREATE TABLE content (sha256 TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "content" VALUES('68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719',49469);
INSERT INTO "content" VALUES('c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76',13938);
CREATE TABLE dispatch (
    id INTEGER PRIMARY KEY, campaign INTEGER NOT NULL, sent_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, recipients INTEGER NOT NULL, arrivals INTEGER NOT NULL DEFAULT 0,
    has_surplus INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "dispatch" VALUES(-4805148298481520441,1,1795576641010,1798168641010,1000,0,0);
CREATE TABLE idempotency (
    caller TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, created_at INTEGER NOT NULL,
    jobs TEXT NOT NULL, PRIMARY KEY (caller, key)
) WITHOUT ROWID;
INSERT INTO "idempotency" VALUES('aa842b3573f5a2c0e8cd3e7afb4945f2','campaign-7','331e8f9a82ca166fe97e239e7230369ddf3a9c92ce46f4871a75c20c30c4031e',1795576640964,'["01a210b5-35c4-7c98-9ff8-26d39bf5815b"]');
CREATE TABLE job (
    id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, state TEXT NOT NULL, lane INTEGER NOT NULL,
    caller_id TEXT, source TEXT NOT NULL, error_code TEXT, owner TEXT NOT NULL DEFAULT '', host TEXT,
    key TEXT NOT NULL, upload TEXT,
    attempts INTEGER NOT NULL DEFAULT 0, losses INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
    due_at INTEGER NOT NULL, not_before INTEGER, wait INTEGER NOT NULL DEFAULT 0,
    parked INTEGER NOT NULL DEFAULT 0,
    token INTEGER, worker TEXT, lease_until INTEGER, cancelling INTEGER NOT NULL DEFAULT 0,
    media TEXT, request TEXT NOT NULL, secret TEXT, result TEXT, error TEXT, origin TEXT
);
INSERT INTO "job" VALUES(1,'01a210b5-3596-73a2-97a1-60751d52627b','succeeded',1,'done','http://cdn.example/grid.jpg',NULL,'',' cdn.example','fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0-30000',NULL,1,0,1795576640919,1795576640920,1795576641010,1795576640919,NULL,0,0,NULL,NULL,NULL,0,'6c55defddd42d12e3f34fc4807167333','{"headers":{},"callbackURL":"http://backend.example/hook?key=REDACTED","source":"http://cdn.example/grid.jpg","rendition":"original","oversize":"shrink","unsupported":"convert","options":{"animation":"gif","thumbnailSize":{"width":300,"height":300},"bakeRotation":false,"thumbnailFit":"contain"},"budget":30,"id":"done"}','','{"error":null,"timings":{"transfer":12.05,"publish":0.18,"total":70.38,"connect":0.25,"dns":0.03,"inspect":1.64,"identify":11.31,"firstByte":4.78,"render":46.76,"queue":3.32,"tls":0},"crop":null,"deviceFetch":{"wifi":0.05,"lte":0.17,"3g":0.55},"source":{"sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719","finalURL":"http://cdn.example/grid.jpg","bytes":49469,"url":"http://cdn.example/grid.jpg","declaredMIMEType":"image/jpeg","mimeType":"image/jpeg"},"warnings":[],"attachment":{"bytes":49469,"width":800,"height":600,"kind":"image","url":null,"uti":"public.jpeg","frames":1,"duration":null,"mimeType":"image/jpeg","file":"attachment.jpg","sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719"},"requestDigest":"fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0","thumbnail":{"url":null,"mimeType":"image/jpeg","height":225,"width":300,"time":null,"bytes":13938,"sha256":"c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76","file":"thumbnail.jpg"},"id":"done","reasons":["image/jpeg is attachable and 49,469 bytes are within 10,000,000"],"outcome":"passed","options":{"thumbnailTime":null,"thumbnailHidden":null,"thumbnailClippingRect":null,"typeHint":"public.jpeg"},"schema":1}',NULL,NULL);
INSERT INTO "job" VALUES(2,'01a210b5-35a7-73d5-b303-72861c96cfb1','failed',1,'broken','http://cdn.example/junk.jpg','media.corrupt','',' cdn.example','b1caab80b176e07d4146e8e9d881c7209d02a677076acc5975909daff8b9f0ff-30000',NULL,1,0,1795576640936,1795576640937,1795576640987,1795576640936,NULL,0,0,NULL,NULL,NULL,0,NULL,'{"unsupported":"convert","options":{"thumbnailFit":"contain","thumbnailSize":{"height":300,"width":300},"bakeRotation":false,"animation":"gif"},"budget":30,"source":"http://cdn.example/junk.jpg","rendition":"original","id":"broken","headers":{},"oversize":"shrink"}',NULL,'{"error":{"message":"The file is damaged; send an intact one.","retryable":false,"code":"media.corrupt","appleCode":105},"requestDigest":"b1caab80b176e07d4146e8e9d881c7209d02a677076acc5975909daff8b9f0ff","options":null,"reasons":["The file is damaged; send an intact one."],"deviceFetch":null,"source":{"sha256":"37a83a771069645c41fb1e72d982f39a442e1b2efacdf9365c8bfe2405e9a416","bytes":400,"url":"http://cdn.example/junk.jpg","finalURL":"http://cdn.example/junk.jpg","declaredMIMEType":"image/jpeg","mimeType":null},"timings":{"dns":0.01,"firstByte":3.03,"queue":1.79,"inspect":15.33,"render":0,"total":39.57,"publish":0,"transfer":0.44,"identify":12.01,"tls":0,"connect":0.37},"attachment":null,"schema":1,"id":"broken","crop":null,"thumbnail":null,"warnings":[],"outcome":"rejected"}','{"retryable":false,"appleCode":105,"message":"The file is damaged; send an intact one.","code":"media.corrupt"}',NULL);
INSERT INTO "job" VALUES(3,'01a210b5-35c4-7c98-9ff8-26d39bf5815b','queued',0,'later','http://cdn.example/grid.png',NULL,'',' cdn.example','22ea4d687ec8b63c56eda1859da6630386fc808b6b6b8e64f4d06b8c776e865d-30000',NULL,0,0,1795576640964,NULL,NULL,1798113600000,1798113600000,2,0,NULL,NULL,NULL,0,NULL,'{"priority":"high","headers":{},"notBefore":"2026-12-24T12:00:00.000Z","oversize":"shrink","source":"http://cdn.example/grid.png","rendition":"original","unsupported":"convert","options":{"bakeRotation":false,"thumbnailFit":"contain","thumbnailSize":{"height":300,"width":300},"animation":"gif"},"budget":30,"id":"later"}',NULL,NULL,NULL,'{"idempotencyKey":"campaign-7","trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01","tracestate":"rojo=1"}}');
CREATE TABLE job_line (
    id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    date INTEGER NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL
);
INSERT INTO "job_line" VALUES(1,2,1795576640938,'info','claimed attempt=1 waited=1 ms');
INSERT INTO "job_line" VALUES(2,2,1795576640984,'info','rejected code=media.corrupt ms=40 outcome=rejected reason=The file is damaged; send an intact one. source=400');
INSERT INTO "job_line" VALUES(3,2,1795576640986,'info','ended ms=47 state=failed');
INSERT INTO "job_line" VALUES(4,1,1795576640922,'info','claimed attempt=1 waited=3 ms');
INSERT INTO "job_line" VALUES(5,1,1795576640995,'info','prepared bytes=49469 ms=70 outcome=passed source=49469');
INSERT INTO "job_line" VALUES(6,1,1795576641008,'info','ended ms=85 state=succeeded');
CREATE TABLE receipt (
    dispatch INTEGER NOT NULL, report BLOB NOT NULL, PRIMARY KEY (dispatch, report)
) WITHOUT ROWID;
CREATE TABLE result (
    media TEXT PRIMARY KEY, key TEXT NOT NULL, manifest TEXT NOT NULL, freshness TEXT, fresh_until INTEGER,
    fetched_at INTEGER NOT NULL, used_at INTEGER NOT NULL, bytes INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "result" VALUES('6c55defddd42d12e3f34fc4807167333','fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0-30000','{"source":{"sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719","bytes":49469,"url":"http://cdn.example/grid.jpg","finalURL":"http://cdn.example/grid.jpg","declaredMIMEType":"image/jpeg","mimeType":"image/jpeg"},"outcome":"passed","deviceFetch":{"wifi":0.05,"lte":0.17,"3g":0.55},"requestDigest":"fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0","timings":{"dns":0.03,"queue":0.01,"firstByte":4.78,"inspect":1.64,"render":46.76,"total":70.38,"publish":0.18,"transfer":12.05,"identify":11.31,"tls":0,"connect":0.25},"crop":null,"attachment":{"frames":1,"kind":"image","duration":null,"uti":"public.jpeg","mimeType":"image/jpeg","file":"attachment.jpg","height":600,"width":800,"url":null,"bytes":49469,"sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719"},"options":{"typeHint":"public.jpeg","thumbnailHidden":null,"thumbnailClippingRect":null,"thumbnailTime":null},"error":null,"schema":1,"warnings":[],"thumbnail":{"url":null,"time":null,"height":225,"file":"thumbnail.jpg","sha256":"c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76","width":300,"bytes":13938,"mimeType":"image/jpeg"},"reasons":["image/jpeg is attachable and 49,469 bytes are within 10,000,000"],"id":"done"}','{"validators":{"lastModified":"Wed, 25 Nov 2026 03:16:58 GMT","address":"f72bc984551dcddc52f283ac2f5dc5480239d975a9050a07017a095210b1385b"}}',NULL,1795576641018,1795576641022,63407);
INSERT INTO "result" VALUES('f99b3a5501bd5c4e7173225f917a626a','b1caab80b176e07d4146e8e9d881c7209d02a677076acc5975909daff8b9f0ff-30000','{"reasons":["The file is damaged; send an intact one."],"crop":null,"options":null,"schema":1,"timings":{"identify":12.01,"queue":0.01,"publish":0,"connect":0.37,"inspect":15.33,"dns":0.01,"transfer":0.44,"render":0,"total":39.57,"tls":0,"firstByte":3.03},"source":{"url":"http://cdn.example/junk.jpg","bytes":400,"sha256":"37a83a771069645c41fb1e72d982f39a442e1b2efacdf9365c8bfe2405e9a416","mimeType":null,"finalURL":"http://cdn.example/junk.jpg","declaredMIMEType":"image/jpeg"},"thumbnail":null,"id":"broken","warnings":[],"error":{"code":"media.corrupt","appleCode":105,"message":"The file is damaged; send an intact one.","retryable":false},"outcome":"rejected","attachment":null,"requestDigest":"b1caab80b176e07d4146e8e9d881c7209d02a677076acc5975909daff8b9f0ff","deviceFetch":null}',NULL,NULL,1795576640944,1795576640984,0);
CREATE TABLE result_file (
    media TEXT NOT NULL REFERENCES result (media) ON DELETE CASCADE, name TEXT NOT NULL,
    mime_type TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (media, name)
) WITHOUT ROWID;
INSERT INTO "result_file" VALUES('6c55defddd42d12e3f34fc4807167333','attachment.jpg','image/jpeg',49469,'68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719');
INSERT INTO "result_file" VALUES('6c55defddd42d12e3f34fc4807167333','thumbnail.jpg','image/jpeg',13938,'c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76');
CREATE TABLE tally (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "tally" VALUES('cancelled',0);
INSERT INTO "tally" VALUES('dead',0);
INSERT INTO "tally" VALUES('failed',1);
INSERT INTO "tally" VALUES('mediaBytes',92761);
INSERT INTO "tally" VALUES('queued',1);
INSERT INTO "tally" VALUES('running',0);
INSERT INTO "tally" VALUES('succeeded',1);
CREATE TABLE unknown_file (name TEXT PRIMARY KEY, found_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE upload (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL DEFAULT '', bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "upload" VALUES('2a9b0833323c3aba6c71f50bd1b2f8ec','',29354,'a3eb5ce5e33686e701dbaaa38341ed1d385f0abff74b5ff6e738989677d1b1f9',1795576640990,1795663040990);
CREATE TABLE webhook (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    state TEXT NOT NULL, host TEXT NOT NULL, url TEXT NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, next_at INTEGER,
    lease_until INTEGER, ended_at INTEGER, last_status INTEGER, last_error TEXT,
    url_wiped INTEGER NOT NULL DEFAULT 0, trace TEXT
);
INSERT INTO "webhook" VALUES(1,'msg_01a210b535f27bcd815e37ff22d0c8ad',1,'pending','backend.example','http://backend.example/hook?key=abc','attachment.prepared','{"data":{"attachment":{"bytes":49469,"duration":null,"file":"attachment.jpg","frames":1,"height":600,"kind":"image","mimeType":"image/jpeg","sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719","url":"http://media.example/media/6c55defddd42d12e3f34fc4807167333/attachment.jpg","uti":"public.jpeg","width":800},"crop":null,"deviceFetch":{"3g":0.55,"lte":0.17,"wifi":0.05},"error":null,"id":"done","options":{"thumbnailClippingRect":null,"thumbnailHidden":null,"thumbnailTime":null,"typeHint":"public.jpeg"},"outcome":"passed","reasons":["image/jpeg is attachable and 49,469 bytes are within 10,000,000"],"requestDigest":"fde5f8c5451cc78eca3af3cbfecba8751130196d1b76510d5c1eacb38d28e8e0","schema":1,"source":{"bytes":49469,"declaredMIMEType":"image/jpeg","finalURL":"http://cdn.example/grid.jpg","mimeType":"image/jpeg","sha256":"68f9eccb0acf9145444129ab3d1788fbd43e1667435bf0c23bd7004dabda8719","url":"http://cdn.example/grid.jpg"},"thumbnail":{"bytes":13938,"file":"thumbnail.jpg","height":225,"mimeType":"image/jpeg","sha256":"c553e441aa7d2c0813507d53d9580782c982eeabb9584d9a443259061e2c5f76","time":null,"url":"http://media.example/media/6c55defddd42d12e3f34fc4807167333/thumbnail.jpg","width":300},"timings":{"connect":0.25,"dns":0.03,"firstByte":4.78,"identify":11.31,"inspect":1.64,"publish":0.18,"queue":3.32,"render":46.76,"tls":0,"total":70.38,"transfer":12.05},"warnings":[]},"job":{"attempts":1,"batch":null,"createdAt":"2026-11-25T03:17:20.918Z","id":"01a210b5-3596-73a2-97a1-60751d52627b","idempotencyKey":null,"state":"succeeded"},"timestamp":"2026-11-25T03:17:21.009Z","type":"attachment.prepared"}',1,1795576641010,1795576646135,NULL,NULL,NULL,'No connection to 127.0.0.1 could be made; check the address and the server.',0,'{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}');
CREATE INDEX job_queued ON job (lane, due_at) WHERE state = 'queued' AND parked = 0;
CREATE INDEX job_host_parked ON job (host, lane, due_at) WHERE state = 'queued' AND parked = 1;
CREATE INDEX job_key_parked ON job (key, lane, due_at) WHERE state = 'queued' AND parked = 2;
CREATE INDEX job_owner_parked ON job (owner, lane, due_at) WHERE state = 'queued' AND parked = 3;
CREATE INDEX job_running_owner ON job (owner) WHERE state = 'running';
CREATE INDEX job_running_host ON job (host) WHERE state = 'running';
CREATE INDEX job_lease ON job (lease_until) WHERE state = 'running';
CREATE INDEX job_alive_key ON job (key, state) WHERE state IN ('queued', 'running');
CREATE INDEX job_error ON job (error_code) WHERE state IN ('failed', 'dead');
CREATE INDEX job_media ON job (media) WHERE media IS NOT NULL;
CREATE INDEX job_upload ON job (upload) WHERE upload IS NOT NULL;
CREATE INDEX job_line_job ON job_line (job);
CREATE INDEX idempotency_age ON idempotency (created_at);
CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
    UPDATE tally SET number = number + 1 WHERE name = NEW.state;
END;
CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN OLD.state <> NEW.state BEGIN
    UPDATE tally SET number = number - 1 WHERE name = OLD.state;
    UPDATE tally SET number = number + 1 WHERE name = NEW.state;
END;
CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN
    UPDATE tally SET number = number - 1 WHERE name = OLD.state;
END;
CREATE INDEX webhook_job ON webhook (job);
CREATE INDEX webhook_state ON webhook (state, name);
CREATE INDEX webhook_due ON webhook (host, next_at) WHERE state = 'pending' AND lease_until IS NULL;
CREATE INDEX webhook_leased ON webhook (host) WHERE state = 'pending' AND lease_until IS NOT NULL;
CREATE INDEX result_key ON result (key, fetched_at);
CREATE INDEX result_use ON result (used_at);
CREATE INDEX result_file_content ON result_file (sha256);
CREATE INDEX upload_age ON upload (expires_at);
CREATE TRIGGER content_added AFTER INSERT ON content BEGIN
    UPDATE tally SET number = number + NEW.bytes WHERE name = 'mediaBytes';
END;
CREATE TRIGGER content_removed AFTER DELETE ON content BEGIN
    UPDATE tally SET number = number - OLD.bytes WHERE name = 'mediaBytes';
END;
CREATE TRIGGER upload_added AFTER INSERT ON upload BEGIN
    UPDATE tally SET number = number + NEW.bytes WHERE name = 'mediaBytes';
END;
CREATE TRIGGER upload_removed AFTER DELETE ON upload BEGIN
    UPDATE tally SET number = number - OLD.bytes WHERE name = 'mediaBytes';
END;
CREATE INDEX campaign_use ON campaign (used_at);
CREATE INDEX dispatch_age ON dispatch (expires_at);
CREATE INDEX job_state ON job (state, uuid, caller_id, source, error_code);
CREATE INDEX job_finished ON job (state, finished_at, created_at, not_before) WHERE finished_at IS NOT NULL;
CREATE INDEX webhook_unexamined ON webhook (id) WHERE state = 'delivered' AND url_wiped = 0;
COMMIT;
