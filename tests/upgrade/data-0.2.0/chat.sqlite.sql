BEGIN TRANSACTION;
CREATE TABLE suyuan_addresses (
	person TEXT NOT NULL, 
	address TEXT NOT NULL, 
	page TEXT NOT NULL, 
	PRIMARY KEY (person, address)
);
CREATE TABLE suyuan_audit (
	id TEXT NOT NULL, 
	at TEXT NOT NULL, 
	person TEXT NOT NULL, 
	action TEXT NOT NULL, 
	what TEXT NOT NULL, 
	address TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE suyuan_conversations (
	id TEXT NOT NULL, 
	title TEXT NOT NULL, 
	mode TEXT NOT NULL, 
	search BOOLEAN NOT NULL, 
	engine TEXT NOT NULL, 
	model TEXT NOT NULL, 
	lang TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	deleted_at TEXT, 
	person TEXT DEFAULT '' NOT NULL, 
	focus TEXT DEFAULT '' NOT NULL, 
	pinned_at TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "suyuan_conversations" VALUES('kqdxg219hgvvl9zj','How long is the Tern Bridge?','chat',1,'','','en','2026-11-18T22:11:48.150379+00:00','2026-11-18T22:11:48.377254+00:00',NULL,'','',NULL);
INSERT INTO "suyuan_conversations" VALUES('m8cpvp5tzsiihtco','听潮大桥全长多少公里？','agent',1,'','','zh','2026-11-18T22:11:48.401553+00:00','2026-11-18T22:11:48.491408+00:00',NULL,'','',NULL);
INSERT INTO "suyuan_conversations" VALUES('u4i9pjf0igkdsl1s','Who lives under the Tern Bridge? FAIL','chat',1,'','','en','2026-11-18T22:11:48.500904+00:00','2026-11-18T22:11:50.069208+00:00',NULL,'','',NULL);
INSERT INTO "suyuan_conversations" VALUES('4g8f9csr5a921urb','How long is the Tern Bridge, once more?','chat',1,'','','en','2026-11-18T22:11:50.073164+00:00','2026-11-18T22:11:50.098105+00:00','2026-11-18T22:11:50.111001+00:00','','',NULL);
INSERT INTO "suyuan_conversations" VALUES('a0h699hjn06um6fs','What is never answered? STALL','chat',1,'','','en','2026-11-18T22:11:50.122403+00:00','2026-11-18T22:11:50.132085+00:00',NULL,'','',NULL);
CREATE TABLE suyuan_events (
	run TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	PRIMARY KEY (run, seq), 
	FOREIGN KEY(run) REFERENCES suyuan_messages (id) ON DELETE CASCADE
);
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',0,'{"kind":"turn.started","run":"axxx0qprlv6x4zr1","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"How long is the Tern Bridge?"}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',2,'{"kind":"search.started","step":1,"query":"How long is the Tern Bridge?","engine":""}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',3,'{"kind":"search.finished","step":1,"query":"How long is the Tern Bridge?","engine":"searxng","count":2,"took_ms":6,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":4,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',4,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":6}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',5,'{"kind":"sources","round":1,"query":"How long is the Tern Bridge?","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""}]}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',6,'{"kind":"step.started","step":2,"tool":"web_fetch","detail":"http://127.0.0.1:28643/bridge"}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',7,'{"kind":"step.started","step":3,"tool":"web_fetch","detail":"http://127.0.0.1:28643/qiao"}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',8,'{"kind":"page.read","step":2,"url":"http://127.0.0.1:28643/bridge","title":"The Tern Bridge","number":1,"tokens":85,"took_ms":12}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',9,'{"kind":"step.finished","step":2,"tool":"web_fetch","ok":true,"took_ms":12}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',10,'{"kind":"page.read","step":3,"url":"http://127.0.0.1:28643/qiao","title":"听潮大桥","number":2,"tokens":93,"took_ms":26}');
INSERT INTO "suyuan_events" VALUES('axxx0qprlv6x4zr1',11,'{"kind":"step.finished","step":3,"tool":"web_fetch","ok":true,"took_ms":26}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',0,'{"kind":"turn.started","run":"t9c76iosrtkebgu8","mode":"agent","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"听潮大桥全长多少公里"}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',2,'{"kind":"search.started","step":1,"query":"听潮大桥全长多少公里","engine":""}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',3,'{"kind":"search.finished","step":1,"query":"听潮大桥全长多少公里","engine":"searxng","count":2,"took_ms":24,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":6,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',4,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":24}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',5,'{"kind":"sources","round":1,"query":"听潮大桥全长多少公里","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""}]}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',6,'{"kind":"step.started","step":2,"tool":"web_fetch","detail":"http://127.0.0.1:28643/qiao"}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',7,'{"kind":"step.started","step":3,"tool":"web_fetch","detail":"http://127.0.0.1:28643/bridge"}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',8,'{"kind":"page.read","step":2,"url":"http://127.0.0.1:28643/qiao","title":"听潮大桥","number":2,"tokens":93,"took_ms":3}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',9,'{"kind":"step.finished","step":2,"tool":"web_fetch","ok":true,"took_ms":3}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',10,'{"kind":"page.read","step":3,"url":"http://127.0.0.1:28643/bridge","title":"The Tern Bridge","number":1,"tokens":85,"took_ms":3}');
INSERT INTO "suyuan_events" VALUES('t9c76iosrtkebgu8',11,'{"kind":"step.finished","step":3,"tool":"web_fetch","ok":true,"took_ms":3}');
INSERT INTO "suyuan_events" VALUES('pbmu790qmfx045xp',0,'{"kind":"turn.started","run":"pbmu790qmfx045xp","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('pbmu790qmfx045xp',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"Who lives under the Tern Bridge? FAIL"}');
INSERT INTO "suyuan_events" VALUES('pbmu790qmfx045xp',2,'{"kind":"search.started","step":1,"query":"Who lives under the Tern Bridge? FAIL","engine":""}');
INSERT INTO "suyuan_events" VALUES('pbmu790qmfx045xp',3,'{"kind":"notice","level":"warning","failure":{"code":"WebProviderError","detail_code":"from_archive","message":"The search failed. This answer is based on pages that were read earlier (2026-11-18). http://127.0.0.1:28643 returns HTTP 503: SearXNG or the proxy in front of it has an error.","hint":"502, 503 or 504 from a proxy: the container is not running (docker ps). 500: an error in settings.yml or in SearXNG: docker compose logs --tail 50; after fixing it: docker compose restart","retryable":false,"retry_after":null,"key":"chat.from_archive","params":{"cause":{"code":"BadGateway","detail_code":"http_5xx","message":"http://127.0.0.1:28643 returns HTTP 503: SearXNG or the proxy in front of it has an error.","hint":"502, 503 or 504 from a proxy: the container is not running (docker ps). 500: an error in settings.yml or in SearXNG: docker compose logs --tail 50; after fixing it: docker compose restart","retryable":true,"retry_after":1.0,"key":"searxng.broken","params":{"where":"http://127.0.0.1:28643","status":503},"engine":"searxng"},"dates":"2026-11-18"},"engine":""},"guide":"searxng"}');
INSERT INTO "suyuan_events" VALUES('pbmu790qmfx045xp',4,'{"kind":"search.finished","step":1,"query":"Who lives under the Tern Bridge? FAIL","engine":"archive","count":1,"took_ms":1427,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"error","count":0,"latency_ms":15,"code":"BadGateway","detail_code":"http_5xx","message":"http://127.0.0.1:28643 returns HTTP 503: SearXNG or the proxy in front of it has an error.","hint":"502, 503 or 504 from a proxy: the container is not running (docker ps). 500: an error in settings.yml or in SearXNG: docker compose logs --tail 50; after fixing it: docker compose restart","retryable":true,"retry_after":1.0,"unsupported_params":[],"notes":[],"relevance":null},{"engine":"searxng","outcome":"error","count":0,"latency_ms":2,"code":"BadGateway","detail_code":"http_5xx","message":"http://127.0.0.1:28643 returns HTTP 503: SearXNG or the proxy in front of it has an error.","hint":"502, 503 or 504 from a proxy: the container is not running (docker ps). 500: an error in settings.yml or in SearXNG: docker compose logs --tail 50; after fixing it: docker compose restart","retryable":true,"retry_after":1.0,"unsupported_params":[],"notes":[],"relevance":null},{"engine":"searxng","outcome":"error","count":0,"latency_ms":2,"code":"BadGateway","detail_code":"http_5xx","message":"http://127.0.0.1:28643 returns HTTP 503: SearXNG or the proxy in front of it has an error.","hint":"502, 503 or 504 from a proxy: the container is not running (docker ps). 500: an error in settings.yml or in SearXNG: docker compose logs --tail 50; after fixing it: docker compose restart","retryable":true,"retry_after":1.0,"unsupported_params":[],"notes":[],"relevance":null},{"engine":"archive","outcome":"ok","count":1,"latency_ms":0,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}');
INSERT INTO "suyuan_events" VALUES('pbmu790qmfx045xp',5,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":1427}');
INSERT INTO "suyuan_events" VALUES('pbmu790qmfx045xp',6,'{"kind":"sources","round":1,"query":"Who lives under the Tern Bridge? FAIL","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge","engine":"archive","published_at":null,"round":1,"fetched_at":"2026-11-18T22:11:48+00:00","read_from":"","read_at":"","sha256":""}]}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',0,'{"kind":"turn.started","run":"nqd0ax3u5ik5tg2k","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"Tern Bridge opened"}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',2,'{"kind":"search.started","step":1,"query":"Tern Bridge opened","engine":""}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',3,'{"kind":"step.started","step":2,"tool":"web_search","detail":"When was it opened?"}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',4,'{"kind":"search.started","step":2,"query":"When was it opened?","engine":""}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',5,'{"kind":"search.finished","step":2,"query":"When was it opened?","engine":"searxng","count":2,"took_ms":5,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":4,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',6,'{"kind":"step.finished","step":2,"tool":"web_search","ok":true,"took_ms":5}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',7,'{"kind":"search.finished","step":1,"query":"Tern Bridge opened","engine":"searxng","count":2,"took_ms":5,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":4,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',8,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":5}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',9,'{"kind":"sources","round":1,"query":"Tern Bridge opened","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""}]}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',10,'{"kind":"sources","round":2,"query":"When was it opened?","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""}]}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',11,'{"kind":"step.started","step":3,"tool":"web_fetch","detail":"http://127.0.0.1:28643/bridge"}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',12,'{"kind":"step.started","step":4,"tool":"web_fetch","detail":"http://127.0.0.1:28643/qiao"}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',13,'{"kind":"page.read","step":3,"url":"http://127.0.0.1:28643/bridge","title":"The Tern Bridge","number":1,"tokens":85,"took_ms":3}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',14,'{"kind":"step.finished","step":3,"tool":"web_fetch","ok":true,"took_ms":3}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',15,'{"kind":"page.read","step":4,"url":"http://127.0.0.1:28643/qiao","title":"听潮大桥","number":2,"tokens":93,"took_ms":4}');
INSERT INTO "suyuan_events" VALUES('nqd0ax3u5ik5tg2k',16,'{"kind":"step.finished","step":4,"tool":"web_fetch","ok":true,"took_ms":4}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',0,'{"kind":"turn.started","run":"79e3snssmr1v0vv9","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"How long is the Tern Bridge, once more?"}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',2,'{"kind":"search.started","step":1,"query":"How long is the Tern Bridge, once more?","engine":""}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',3,'{"kind":"search.finished","step":1,"query":"How long is the Tern Bridge, once more?","engine":"searxng","count":2,"took_ms":3,"cached":false,"repeated":false,"receipt":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":2,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',4,'{"kind":"step.finished","step":1,"tool":"web_search","ok":true,"took_ms":3}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',5,'{"kind":"sources","round":1,"query":"How long is the Tern Bridge, once more?","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"","read_at":"","sha256":""}]}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',6,'{"kind":"step.started","step":2,"tool":"web_fetch","detail":"http://127.0.0.1:28643/bridge"}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',7,'{"kind":"step.started","step":3,"tool":"web_fetch","detail":"http://127.0.0.1:28643/qiao"}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',8,'{"kind":"page.read","step":2,"url":"http://127.0.0.1:28643/bridge","title":"The Tern Bridge","number":1,"tokens":85,"took_ms":1}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',9,'{"kind":"step.finished","step":2,"tool":"web_fetch","ok":true,"took_ms":1}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',10,'{"kind":"page.read","step":3,"url":"http://127.0.0.1:28643/qiao","title":"听潮大桥","number":2,"tokens":93,"took_ms":1}');
INSERT INTO "suyuan_events" VALUES('79e3snssmr1v0vv9',11,'{"kind":"step.finished","step":3,"tool":"web_fetch","ok":true,"took_ms":1}');
INSERT INTO "suyuan_events" VALUES('vx1jaq5b4x7oy87u',0,'{"kind":"turn.started","run":"vx1jaq5b4x7oy87u","mode":"chat","search":true,"model":"embedded","engine":""}');
INSERT INTO "suyuan_events" VALUES('vx1jaq5b4x7oy87u',1,'{"kind":"step.started","step":1,"tool":"web_search","detail":"What is never answered? STALL"}');
INSERT INTO "suyuan_events" VALUES('vx1jaq5b4x7oy87u',2,'{"kind":"search.started","step":1,"query":"What is never answered? STALL","engine":""}');
CREATE TABLE suyuan_logins (
	digest TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	person TEXT DEFAULT '' NOT NULL, 
	begun FLOAT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE suyuan_messages (
	id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	role TEXT NOT NULL, 
	text TEXT NOT NULL, 
	state TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	answer TEXT, 
	position INTEGER NOT NULL, 
	owner TEXT, 
	kept_at TEXT NOT NULL, 
	lease FLOAT, 
	stopping BOOLEAN DEFAULT 0 NOT NULL, 
	version_of TEXT, 
	PRIMARY KEY (id), 
	UNIQUE (conversation, position), 
	FOREIGN KEY(conversation) REFERENCES suyuan_conversations (id) ON DELETE CASCADE
);
INSERT INTO "suyuan_messages" VALUES('etq5d963m5i7mwxy','kqdxg219hgvvl9zj','user','How long is the Tern Bridge?','done','2026-11-18T22:11:48.180731+00:00',NULL,0,NULL,'2026-11-18T22:11:48.180731+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('axxx0qprlv6x4zr1','kqdxg219hgvvl9zj','assistant','- The Tern Bridge is 1,204 metres long[[1]](http://127.0.0.1:28643/bridge).
- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[[1]](http://127.0.0.1:28643/bridge).

## References

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1','done','2026-11-18T22:11:48.180731+00:00','{"kind":"answer","text":"- The Tern Bridge is 1,204 metres long[1].\n- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[1].","markdown":"- The Tern Bridge is 1,204 metres long[[1]](http://127.0.0.1:28643/bridge).\n- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[[1]](http://127.0.0.1:28643/bridge).\n\n## References\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1","mode":"chat","model":"embedded","lang":"en","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"http://127.0.0.1:28643/bridge","read_at":"2026-11-18T22:11:48+00:00","sha256":"ab877ed92215dabbb56b9581262f7c7404d6aa0b1091e05b7106617f71c189c4"},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"http://127.0.0.1:28643/qiao","read_at":"2026-11-18T22:11:48+00:00","sha256":"8a94545903796c294bdfd61bf4b573329c283f68433f438d2ef705c4eab0b6a2"}],"rounds":[[1,"How long is the Tern Bridge?",[1,2]]],"cited":[1],"unknown":[],"claims":[{"start":2,"end":42,"number":1,"verdict":"supported","basis":"page","quote":"The Tern Bridge is 1,204 metres long.","link":"http://127.0.0.1:28643/bridge#:~:text=The%20Tern%20Bridge%20is%201%2C204%20metres%20long","claimed":"","says":""},{"start":45,"end":138,"number":1,"verdict":"supported","basis":"page","quote":"This page is part of a small set that was written for a test of upgrades.","link":"http://127.0.0.1:28643/bridge#:~:text=This%20page%20is%20part%20of,for%20a%20test%20of%20upgrades","claimed":"","says":""}],"disagreements":[],"unverified":false,"stopped":false,"failure":null,"took_ms":175,"usage":{"searches":1,"fetches":2,"input_tokens":0,"output_tokens":0},"suggestions":[],"receipts":[{"query":"How long is the Tern Bridge?","engines":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":4,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}],"unsaved":false,"calls":[]}',1,NULL,'2026-11-18T22:11:48.377254+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('hkuli1r1blku9u8a','m8cpvp5tzsiihtco','user','听潮大桥全长多少公里？','done','2026-11-18T22:11:48.411862+00:00',NULL,0,NULL,'2026-11-18T22:11:48.411862+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('t9c76iosrtkebgu8','m8cpvp5tzsiihtco','assistant','听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥[[2]](http://127.0.0.1:28643/qiao)。

## 参考文献

### 第 1 轮搜索：“听潮大桥全长多少公里”

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1
- \[2\] [听潮大桥](http://127.0.0.1:28643/qiao) — 127.0.0.1 ✓ 已引用','done','2026-11-18T22:11:48.411862+00:00','{"kind":"answer","text":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥[2]。","markdown":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥[[2]](http://127.0.0.1:28643/qiao)。\n\n## 参考文献\n\n### 第 1 轮搜索：“听潮大桥全长多少公里”\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1\n- \\[2\\] [听潮大桥](http://127.0.0.1:28643/qiao) — 127.0.0.1 ✓ 已引用","mode":"agent","model":"embedded","lang":"zh","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"http://127.0.0.1:28643/bridge","read_at":"2026-11-18T22:11:48+00:00","sha256":"ab877ed92215dabbb56b9581262f7c7404d6aa0b1091e05b7106617f71c189c4"},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"http://127.0.0.1:28643/qiao","read_at":"2026-11-18T22:11:48+00:00","sha256":"8a94545903796c294bdfd61bf4b573329c283f68433f438d2ef705c4eab0b6a2"}],"rounds":[[1,"听潮大桥全长多少公里",[1,2]]],"cited":[2],"unknown":[],"claims":[{"start":0,"end":43,"number":2,"verdict":"supported","basis":"page","quote":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","link":"http://127.0.0.1:28643/qiao#:~:text=%E5%90%AC%E6%BD%AE%E5%A4%A7%E6%A1%A5%E5%85%A8%E9%95%BF%2036%20%E5%85%AC%E9%87%8C%EF%BC%8C%E4%BA%8E%202011%20%E5%B9%B4%E5%BB%BA%E6%88%90%E9%80%9A%E8%BD%A6%EF%BC%8C%E6%98%AF%E5%BD%93%E6%97%B6%E4%B8%96%E7%95%8C%E4%B8%8A%E6%9C%80%E9%95%BF%E7%9A%84%E8%B7%A8%E6%B5%B7%E5%A4%A7%E6%A1%A5","claimed":"","says":""}],"disagreements":[],"unverified":false,"stopped":false,"failure":null,"took_ms":74,"usage":{"searches":1,"fetches":2,"input_tokens":0,"output_tokens":0},"suggestions":[],"receipts":[{"query":"听潮大桥全长多少公里","engines":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":6,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}],"unsaved":false,"calls":[]}',1,NULL,'2026-11-18T22:11:48.491408+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('52ctpsscdybn99rr','u4i9pjf0igkdsl1s','user','Who lives under the Tern Bridge? FAIL','done','2026-11-18T22:11:48.512323+00:00',NULL,0,NULL,'2026-11-18T22:11:48.512323+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('pbmu790qmfx045xp','u4i9pjf0igkdsl1s','assistant','No sentence in these sources answers this question directly; they only come near:

The Tern Bridge[[1]](http://127.0.0.1:28643/bridge)

## References

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1','done','2026-11-18T22:11:48.512323+00:00','{"kind":"answer","text":"No sentence in these sources answers this question directly; they only come near:\n\nThe Tern Bridge[1]","markdown":"No sentence in these sources answers this question directly; they only come near:\n\nThe Tern Bridge[[1]](http://127.0.0.1:28643/bridge)\n\n## References\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1","mode":"chat","model":"embedded","lang":"en","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge","engine":"archive","published_at":null,"round":1,"fetched_at":"2026-11-18T22:11:48+00:00","read_from":"","read_at":"","sha256":""}],"rounds":[[1,"Who lives under the Tern Bridge? FAIL",[1]]],"cited":[1],"unknown":[],"claims":[],"disagreements":[],"unverified":false,"stopped":false,"failure":null,"took_ms":1467,"usage":{"searches":1,"fetches":0,"input_tokens":0,"output_tokens":0},"suggestions":[],"receipts":[{"query":"Who lives under the Tern Bridge? FAIL","engines":[{"engine":"searxng","outcome":"error","count":0,"latency_ms":15,"code":"BadGateway","detail_code":"http_5xx","message":"http://127.0.0.1:28643 returns HTTP 503: SearXNG or the proxy in front of it has an error.","hint":"502, 503 or 504 from a proxy: the container is not running (docker ps). 500: an error in settings.yml or in SearXNG: docker compose logs --tail 50; after fixing it: docker compose restart","retryable":true,"retry_after":1.0,"unsupported_params":[],"notes":[],"relevance":null},{"engine":"searxng","outcome":"error","count":0,"latency_ms":2,"code":"BadGateway","detail_code":"http_5xx","message":"http://127.0.0.1:28643 returns HTTP 503: SearXNG or the proxy in front of it has an error.","hint":"502, 503 or 504 from a proxy: the container is not running (docker ps). 500: an error in settings.yml or in SearXNG: docker compose logs --tail 50; after fixing it: docker compose restart","retryable":true,"retry_after":1.0,"unsupported_params":[],"notes":[],"relevance":null},{"engine":"searxng","outcome":"error","count":0,"latency_ms":2,"code":"BadGateway","detail_code":"http_5xx","message":"http://127.0.0.1:28643 returns HTTP 503: SearXNG or the proxy in front of it has an error.","hint":"502, 503 or 504 from a proxy: the container is not running (docker ps). 500: an error in settings.yml or in SearXNG: docker compose logs --tail 50; after fixing it: docker compose restart","retryable":true,"retry_after":1.0,"unsupported_params":[],"notes":[],"relevance":null},{"engine":"archive","outcome":"ok","count":1,"latency_ms":0,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}],"unsaved":false,"calls":[]}',1,NULL,'2026-11-18T22:11:49.989393+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('p48kttq2amugutsu','u4i9pjf0igkdsl1s','user','When was it opened?','done','2026-11-18T22:11:50.020947+00:00',NULL,2,NULL,'2026-11-18T22:11:50.020947+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('nqd0ax3u5ik5tg2k','u4i9pjf0igkdsl1s','assistant','- The Tern Bridge is 1,204 metres long[[1]](http://127.0.0.1:28643/bridge). It was opened in 1987 by the town of Ember[[1]](http://127.0.0.1:28643/bridge).
- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[[1]](http://127.0.0.1:28643/bridge).

## References

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1','done','2026-11-18T22:11:50.020947+00:00','{"kind":"answer","text":"- The Tern Bridge is 1,204 metres long[1]. It was opened in 1987 by the town of Ember[1].\n- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[1].","markdown":"- The Tern Bridge is 1,204 metres long[[1]](http://127.0.0.1:28643/bridge). It was opened in 1987 by the town of Ember[[1]](http://127.0.0.1:28643/bridge).\n- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[[1]](http://127.0.0.1:28643/bridge).\n\n## References\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1","mode":"chat","model":"embedded","lang":"en","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"http://127.0.0.1:28643/bridge","read_at":"2026-11-18T22:11:48+00:00","sha256":"ab877ed92215dabbb56b9581262f7c7404d6aa0b1091e05b7106617f71c189c4"},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"http://127.0.0.1:28643/qiao","read_at":"2026-11-18T22:11:48+00:00","sha256":"8a94545903796c294bdfd61bf4b573329c283f68433f438d2ef705c4eab0b6a2"}],"rounds":[[1,"Tern Bridge opened",[1,2]],[2,"When was it opened?",[1,2]]],"cited":[1],"unknown":[],"claims":[{"start":2,"end":42,"number":1,"verdict":"supported","basis":"page","quote":"The Tern Bridge is 1,204 metres long.","link":"http://127.0.0.1:28643/bridge#:~:text=The%20Tern%20Bridge%20is%201%2C204%20metres%20long","claimed":"","says":""},{"start":43,"end":89,"number":1,"verdict":"supported","basis":"page","quote":"It was opened in 1987 by the town of Ember.","link":"http://127.0.0.1:28643/bridge#:~:text=It%20was%20opened%20in%201987%20by%20the%20town%20of%20Ember","claimed":"","says":""},{"start":92,"end":185,"number":1,"verdict":"supported","basis":"page","quote":"This page is part of a small set that was written for a test of upgrades.","link":"http://127.0.0.1:28643/bridge#:~:text=This%20page%20is%20part%20of,for%20a%20test%20of%20upgrades","claimed":"","says":""}],"disagreements":[],"unverified":false,"stopped":false,"failure":null,"took_ms":37,"usage":{"searches":2,"fetches":2,"input_tokens":0,"output_tokens":0},"suggestions":["Tell me more about “The Tern Bridge”"],"receipts":[{"query":"When was it opened?","engines":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":4,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]},{"query":"Tern Bridge opened","engines":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":4,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}],"unsaved":false,"calls":[]}',3,NULL,'2026-11-18T22:11:50.069208+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('0840jz2c476zovgm','4g8f9csr5a921urb','user','How long is the Tern Bridge, once more?','done','2026-11-18T22:11:50.078936+00:00',NULL,0,NULL,'2026-11-18T22:11:50.078936+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('79e3snssmr1v0vv9','4g8f9csr5a921urb','assistant','No sentence in these sources answers this question directly; they only come near:

- The Tern Bridge is 1,204 metres long[[1]](http://127.0.0.1:28643/bridge).
- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[[1]](http://127.0.0.1:28643/bridge).

## References

- \[1\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1','done','2026-11-18T22:11:50.078936+00:00','{"kind":"answer","text":"No sentence in these sources answers this question directly; they only come near:\n\n- The Tern Bridge is 1,204 metres long[1].\n- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[1].","markdown":"No sentence in these sources answers this question directly; they only come near:\n\n- The Tern Bridge is 1,204 metres long[[1]](http://127.0.0.1:28643/bridge).\n- The Tern Bridge: This page is part of a small set that was written for a test of upgrades[[1]](http://127.0.0.1:28643/bridge).\n\n## References\n\n- \\[1\\] [The Tern Bridge](http://127.0.0.1:28643/bridge) — 127.0.0.1","mode":"chat","model":"embedded","lang":"en","sources":[{"number":1,"title":"The Tern Bridge","url":"http://127.0.0.1:28643/bridge","snippet":"The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember.","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"http://127.0.0.1:28643/bridge","read_at":"2026-11-18T22:11:48+00:00","sha256":"ab877ed92215dabbb56b9581262f7c7404d6aa0b1091e05b7106617f71c189c4"},{"number":2,"title":"听潮大桥","url":"http://127.0.0.1:28643/qiao","snippet":"听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。","engine":"searxng","published_at":null,"round":1,"fetched_at":null,"read_from":"http://127.0.0.1:28643/qiao","read_at":"2026-11-18T22:11:48+00:00","sha256":"8a94545903796c294bdfd61bf4b573329c283f68433f438d2ef705c4eab0b6a2"}],"rounds":[[1,"How long is the Tern Bridge, once more?",[1,2]]],"cited":[1],"unknown":[],"claims":[{"start":85,"end":125,"number":1,"verdict":"supported","basis":"page","quote":"The Tern Bridge is 1,204 metres long.","link":"http://127.0.0.1:28643/bridge#:~:text=The%20Tern%20Bridge%20is%201%2C204%20metres%20long","claimed":"","says":""},{"start":128,"end":221,"number":1,"verdict":"supported","basis":"page","quote":"This page is part of a small set that was written for a test of upgrades.","link":"http://127.0.0.1:28643/bridge#:~:text=This%20page%20is%20part%20of,for%20a%20test%20of%20upgrades","claimed":"","says":""}],"disagreements":[],"unverified":false,"stopped":false,"failure":null,"took_ms":17,"usage":{"searches":1,"fetches":2,"input_tokens":0,"output_tokens":0},"suggestions":[],"receipts":[{"query":"How long is the Tern Bridge, once more?","engines":[{"engine":"searxng","outcome":"ok","count":2,"latency_ms":2,"code":null,"detail_code":null,"message":null,"hint":null,"retryable":null,"retry_after":null,"unsupported_params":[],"notes":[],"relevance":null}]}],"unsaved":false,"calls":[]}',1,NULL,'2026-11-18T22:11:50.098105+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('do7z7yeyaic4oy2s','a0h699hjn06um6fs','user','What is never answered? STALL','done','2026-11-18T22:11:50.131943+00:00',NULL,0,NULL,'2026-11-18T22:11:50.131943+00:00',NULL,0,NULL);
INSERT INTO "suyuan_messages" VALUES('vx1jaq5b4x7oy87u','a0h699hjn06um6fs','assistant','','running','2026-11-18T22:11:50.131943+00:00',NULL,1,'host/4026531836|c97be058-bec8-4439-bef7-f4fa95b491b3|24732|827899','2026-11-18T22:11:50.637813+00:00',1.79503994063801240914e+09,0,NULL);
CREATE TABLE suyuan_pages (
	person TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	page TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	fetched_at TEXT NOT NULL, 
	title TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	document TEXT NOT NULL, 
	words TEXT NOT NULL, 
	PRIMARY KEY (person, number), 
	UNIQUE (person, page, sha256)
);
CREATE TABLE suyuan_people (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	password TEXT NOT NULL, 
	quotas TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	disabled_at TEXT, 
	subject TEXT, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
CREATE TABLE suyuan_research (
	id TEXT NOT NULL, 
	question TEXT NOT NULL, 
	state TEXT NOT NULL, 
	request TEXT NOT NULL, 
	"plan" TEXT, 
	result TEXT, 
	stopping BOOLEAN NOT NULL, 
	person TEXT DEFAULT '' NOT NULL, 
	created_at TEXT NOT NULL, 
	updated_at TEXT NOT NULL, 
	owner TEXT, 
	lease FLOAT, 
	progress TEXT, 
	PRIMARY KEY (id)
);
CREATE TABLE suyuan_research_steps (
	job TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	data TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (job, seq), 
	UNIQUE (job, "key"), 
	FOREIGN KEY(job) REFERENCES suyuan_research (id) ON DELETE CASCADE
);
CREATE TABLE suyuan_revision (
	version_num VARCHAR(32) NOT NULL, 
	PRIMARY KEY (version_num)
);
INSERT INTO "suyuan_revision" VALUES('0009');
CREATE TABLE suyuan_schema (
	version INTEGER NOT NULL
);
INSERT INTO "suyuan_schema" VALUES(9);
CREATE TABLE suyuan_shares (
	id TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	until TEXT NOT NULL, 
	expires FLOAT, 
	PRIMARY KEY (id), 
	UNIQUE (digest), 
	FOREIGN KEY(conversation) REFERENCES suyuan_conversations (id) ON DELETE CASCADE
);
CREATE TABLE suyuan_tokens (
	id TEXT NOT NULL, 
	person TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	label TEXT NOT NULL, 
	scopes TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	expires FLOAT, 
	used_at TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(person) REFERENCES suyuan_people (id) ON DELETE CASCADE, 
	UNIQUE (digest)
);
CREATE TABLE suyuan_usage (
	person TEXT NOT NULL, 
	day TEXT NOT NULL, 
	searches INTEGER NOT NULL, 
	answers INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	money FLOAT NOT NULL, 
	PRIMARY KEY (person, day)
);
CREATE INDEX suyuan_conversations_by_time ON suyuan_conversations (updated_at);
CREATE INDEX suyuan_conversations_by_person ON suyuan_conversations (person, updated_at);
CREATE INDEX suyuan_logins_by_person ON suyuan_logins (person);
CREATE UNIQUE INDEX suyuan_people_by_subject ON suyuan_people (subject);
CREATE INDEX suyuan_audit_by_time ON suyuan_audit (at);
CREATE INDEX suyuan_research_by_state ON suyuan_research (state);
CREATE INDEX suyuan_research_by_time ON suyuan_research (created_at);
CREATE INDEX suyuan_pages_by_words ON suyuan_pages (words);
CREATE INDEX suyuan_pages_by_time ON suyuan_pages (person, fetched_at);
CREATE INDEX suyuan_messages_by_state ON suyuan_messages (state);
CREATE INDEX suyuan_tokens_by_person ON suyuan_tokens (person);
CREATE INDEX suyuan_shares_by_conversation ON suyuan_shares (conversation);
COMMIT;
PRAGMA user_version = 0;
