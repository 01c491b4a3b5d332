/** A webhook that has done nothing but fail for days is disabled, in the name of the service. */
import { accept, type Decision, type Streams } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';
import type { Clock, Settings } from '@cardea/runtime';
import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';
import { type Webhook, type WebhookAutoDisabled, webhooks } from '../webhooks/webhooks.module.ts';
import { isGivenUp } from './health.ts';

const SWEEP_EVERY_MS = 60_000;
const WEBHOOKS_MAX = 500;

type Dependencies = {
  readonly streams: Streams;
  readonly database: Database;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'WEBHOOK_AUTO_DISABLE_DAYS'>;
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
    sweep: () => sweep(needs),
  });

const FAILING = `SELECT h.webhook_id, h.tenant_id, h.failing_since, h.failures
  FROM webhooks.health h JOIN webhooks.webhooks w ON w.id = h.webhook_id
  WHERE h.failing_since IS NOT NULL AND w.enabled
  ORDER BY h.failing_since LIMIT ${WEBHOOKS_MAX}`;

async function sweep({
  streams,
  database,
  clock,
  settings,
  systemCommand,
}: Dependencies): Promise<void> {
  const days = settings.WEBHOOK_AUTO_DISABLE_DAYS;
  if (days === 0) return;
  const { rows } = await database.system.query<{
    webhook_id: string;
    tenant_id: string;
    failing_since: Date;
    failures: number;
  }>(FAILING);
  for (const { webhook_id: id, tenant_id: tenantId, failures, ...row } of rows) {
    const failingSince = row.failing_since.toISOString();
    if (!isGivenUp({ failingSince, failures }, clock.now(), days)) continue;
    const command = systemCommand(tenantId, 'auto-disable', id, failingSince);
    await streams.decideOn(webhooks, id, command, (webhook) =>
      disable(webhook, { failing_since: failingSince, failures }),
    );
  }
}
