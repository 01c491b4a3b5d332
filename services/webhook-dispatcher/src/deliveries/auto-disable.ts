/** Disables a webhook that has only failed for days, with the service as actor. */
import { accept, type Decision, type Streams } from '@cardea/event-store';
import { isOutage } from '@cardea/log-follower';
import type { Database } from '@cardea/read-models';
import type { Clock, Logger, Settings } from '@cardea/runtime';
import { errorCode } from '@cardea/runtime';
import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';
import { type Webhook, type WebhookAutoDisabled, webhooks } from '../webhooks/webhooks.module.ts';
import { DAY_MS, FAILURES_MIN, isGivenUp } from './health.ts';

const SWEEP_EVERY_MS = 60_000;
const PAGE_WEBHOOKS = 500;

type Dependencies = {
  readonly streams: Streams;
  readonly database: Database;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'WEBHOOK_AUTO_DISABLE_DAYS'>;
  readonly log: Logger;
  readonly systemCommand: ServiceDependencies['systemCommand'];
};

export function disable(
  webhook: Webhook,
  data: WebhookAutoDisabled['data'],
): Decision<WebhookAutoDisabled, never> {
  const isEnabled = webhook.status === 'standing' && webhook.enabled;
  return isEnabled ? accept({ type: 'WebhookAutoDisabled', data }) : accept();
}

export const autoDisable = (needs: Dependencies): Loop =>
  sweeping({
    name: 'webhooks-auto-disable',
    everyMs: SWEEP_EVERY_MS,
    clock: needs.clock,
    sweep: (_signal, tick) => sweep(needs, tick),
  });

/** Selects only webhooks that are given up, so that many other failing ones do not hide them. */
const GIVEN_UP = `SELECT h.webhook_id, h.tenant_id, h.failing_since, h.failures
  FROM webhooks.health h JOIN webhooks.webhooks w ON w.id = h.webhook_id
  WHERE h.failing_since IS NOT NULL AND h.failures >= ${FAILURES_MIN} AND h.failing_since <= $1
    AND w.enabled AND (h.failing_since, h.webhook_id) > ($2, $3::uuid)
  ORDER BY h.failing_since, h.webhook_id LIMIT ${PAGE_WEBHOOKS}`;
const FIRST = { failing_since: new Date(0), webhook_id: '00000000-0000-0000-0000-000000000000' };

type GivenUp = {
  readonly webhook_id: string;
  readonly tenant_id: string;
  readonly failing_since: Date;
  readonly failures: number;
};

async function sweep(needs: Dependencies, tick: () => void): Promise<void> {
  const { database, clock, settings } = needs;
  const days = settings.WEBHOOK_AUTO_DISABLE_DAYS;
  if (days === 0) return;
  const before = new Date(clock.now().getTime() - days * DAY_MS);
  let last: Pick<GivenUp, 'failing_since' | 'webhook_id'> = FIRST;
  let page: readonly GivenUp[];
  do {
    const values = [before, last.failing_since, last.webhook_id];
    page = (await database.system.query<GivenUp>(GIVEN_UP, values)).rows;
    for (const row of page) {
      tick();
      await disableOne(needs, row);
    }
    last = page.at(-1) ?? last;
  } while (page.length === PAGE_WEBHOOKS);
}

/** A webhook that cannot be disabled is left for the next sweep and does not delay the others. */
async function disableOne(
  { streams, systemCommand, clock, settings, log }: Dependencies,
  { webhook_id: id, tenant_id: tenantId, failures, failing_since }: GivenUp,
): Promise<void> {
  const failingSince = failing_since.toISOString();
  if (!isGivenUp({ failingSince, failures }, clock.now(), settings.WEBHOOK_AUTO_DISABLE_DAYS))
    return;
  const command = systemCommand(tenantId, 'auto-disable', id, failingSince);
  try {
    await streams.decideOn(webhooks, id, command, (webhook) =>
      disable(webhook, { failing_since: failingSince, failures }),
    );
  } catch (error) {
    if (isOutage(error)) throw error;
    log.warn({ webhook_id: id, error: errorCode(error) }, 'a failing webhook was not disabled');
  }
}
