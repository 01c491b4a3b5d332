/** The audit log. Every published event becomes a row that can be listed and exported but never changed. */

import { pageRoutes, plainPages } from '@cardea/pages';
import { geoIp } from '@cardea/runtime';
import type { ServiceDefinition } from '@cardea/service';
import { exportEvents } from './events/export/export.route.ts';
import { ingest } from './events/ingest.consumer.ts';
import { ingestProgress } from './events/ingest-progress.ts';
import { untilLevel } from './events/level.ts';
import { listEvents } from './events/list/list.route.ts';
import { listOwnActivity } from './events/own-activity/own-activity.route.ts';
import { exports } from './exports/export.ts';
import { activityPage } from './pages/activity-page.ts';
import { TEXTS } from './pages/texts.ts';
import { auditRelay } from './relay.ts';
import { cleanupLoop } from './retention/nightly-cleanup.ts';
import { retentions } from './retention/retention.ts';

export const auditService: ServiceDefinition = {
  name: 'audit',
  streams: [exports, retentions],
  migrations: new URL('../migrations/', import.meta.url),
  build: (needs) => {
    const progress = ingestProgress(needs);
    const places = geoIp({ ...needs, path: needs.settings.GEOIP_DB_PATH });
    const reading = { ...needs, untilLevel: untilLevel({ ...needs, progress }) };
    const ownActivity = listOwnActivity(reading);
    return {
      endpoints: [
        listEvents(reading),
        exportEvents(reading),
        ownActivity,
        ...pageRoutes(activityPage(ownActivity), plainPages(needs, TEXTS)),
      ],
      projections: [],
      relay: auditRelay,
      consumers: [ingest({ ...needs, onMoved: progress.tell, geoIp: places })],
      policies: [],
      loops: [cleanupLoop(needs)],
      starts: [progress.start],
      stop: progress.stop,
    };
  },
};
