/**
 * Every webhook, in the memory of this process and up to date with its log. Matching an event and sending to a webhook
 * read no table, and a change takes effect in this process as soon as it is applied here.
 */
import type { IntegrationEvent, WebhookEvent } from '@cardea/contracts';
import type { Sealed, Sealer } from '@cardea/crypto';
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import { type FollowedIndex, followedIndex } from '@cardea/log-follower';
import { type Database, type RowOf, selection } from '@cardea/read-models';
import type { Clock, Logger } from '@cardea/runtime';
import type { Loop } from '@cardea/service';
import { readKeys, type SigningKeys } from '../adapters/signing.ts';
import { isOlder } from './begins-after.ts';
import {
  type BeginsAfter,
  locationOf,
  subjectOf,
  type WebhookCreated,
  type WebhookFact,
} from './webhook.ts';
import { isWebhookStream, webhookIdOf, webhookRows } from './webhooks.projection.ts';

/** The URL and the key with which deliveries are sent. Undefined after the key was erased. */
export type Target = { readonly url: string; readonly origin: string; readonly keys: SigningKeys };

export type IndexedWebhook = {
  readonly id: string;
  readonly tenantId: string;
  readonly appId: string | null;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  /** Null for a webhook that was created before positions were stored. */
  readonly beginsAfter: BeginsAfter | null;
  readonly url: string | Sealed;
  readonly keys: Sealed;
  /** Decrypted once, when it is first needed. */
  target?: Promise<Target | undefined>;
};

type Dependencies = {
  readonly store: EventStore;
  readonly database: Database;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly clock: Clock;
  readonly log: Logger;
};

type Happening = {
  readonly tenantId: string;
  readonly event: WebhookEvent;
  readonly appId: string | null;
} & Pick<IntegrationEvent, 'source' | 'position' | 'logEpoch'>;

export class WebhookIndex {
  readonly #needs: Dependencies;
  readonly #byId = new Map<string, IndexedWebhook>();
  readonly #byTenant = new Map<string, Set<string>>();
  readonly #followed: FollowedIndex;

  constructor(needs: Dependencies) {
    this.#needs = needs;
    const take = (event: RecordedEvent): void => {
      if (isWebhookStream(event.streamId)) this.#apply(event);
    };
    this.#followed = followedIndex({ ...needs, name: 'webhooks', start: () => this.#load(), take });
  }

  get(id: string): IndexedWebhook | undefined {
    return this.#byId.get(id);
  }

  countOf(tenantId: string): number {
    return this.#byTenant.get(tenantId)?.size ?? 0;
  }

  /** The enabled webhooks that have subscribed to the event. */
  matching(happening: Happening): readonly IndexedWebhook[] {
    const { tenantId, event, appId } = happening;
    const ids = [...(this.#byTenant.get(tenantId) ?? [])];
    return ids
      .map((id) => this.#byId.get(id) as IndexedWebhook)
      .filter(
        (webhook) =>
          webhook.enabled &&
          webhook.events.includes(event) &&
          (webhook.appId === null || webhook.appId === appId) &&
          !isOlder(happening, webhook.beginsAfter),
      );
  }

  /** Whether the tenant has a webhook for this event, as far as this process knows. True without a tenant. */
  mayMatch(event: string, tenantId: string | undefined): boolean {
    if (tenantId === undefined) return true;
    const ids = [...(this.#byTenant.get(tenantId) ?? [])];
    return ids
      .map((id) => this.#byId.get(id) as IndexedWebhook)
      .some(({ enabled, events }) => enabled && events.some((each) => each === event));
  }

  target(webhook: IndexedWebhook): Promise<Target | undefined> {
    webhook.target ??= this.#open(webhook).catch((error) => {
      delete webhook.target; // The key may be readable the next time.
      throw error;
    });
    return webhook.target;
  }

  /** Resolves with true if everything up to the position was applied within the time. */
  reached(position: bigint, timeoutMs: number): Promise<boolean> {
    return this.#followed.reached(position, timeoutMs);
  }

  /** Reads the table once, before the first request. */
  load(): Promise<void> {
    return this.#followed.begin();
  }

  /** Follows the log until the signal aborts. */
  readonly run: Loop['run'] = (signal, tick, degraded) =>
    this.#followed.run(signal, { tick, degraded });

  async #load(): Promise<bigint> {
    const { rows } = await this.#needs.database.system.query<RowOf<typeof INDEXED>>(LOAD);
    let position = 0n;
    for (const row of rows) {
      if (row.id !== null) this.#put(indexed(row));
      position = BigInt(row.position);
    }
    return position;
  }

  #apply({ streamId, metadata, ...event }: RecordedEvent): void {
    const id = webhookIdOf(streamId);
    const { type, data } = event as unknown as WebhookFact;
    const webhook = this.#byId.get(id);
    if (type === 'WebhookCreated') {
      this.#put(newWebhook(id, metadata.tenantId, data));
      return;
    }
    if (webhook === undefined) return;
    this.#change(webhook, { type, data } as Change);
  }

  #change({ target: _opened, ...before }: IndexedWebhook, { type, data }: Change): void {
    switch (type) {
      case 'WebhookChanged': {
        const { url = before.url, events = before.events, enabled = before.enabled } = data;
        this.#put({ ...before, url, events, enabled });
        return;
      }
      case 'SecretRotated':
        this.#put({ ...before, keys: data.keys });
        return;
      case 'WebhookAutoDisabled':
        this.#put({ ...before, enabled: false });
        return;
      case 'WebhookDeleted':
        this.#byId.delete(before.id);
        this.#byTenant.get(before.tenantId)?.delete(before.id);
    }
  }

  #put(webhook: IndexedWebhook): void {
    const { id, tenantId } = webhook;
    this.#byId.set(id, webhook);
    const ids = this.#byTenant.get(tenantId) ?? new Set();
    this.#byTenant.set(tenantId, ids.add(id));
  }

  async #open({ id, url: kept, keys }: IndexedWebhook): Promise<Target | undefined> {
    const { sealer } = this.#needs;
    const [url, opened] = await Promise.all([
      typeof kept === 'string' ? kept : sealer.open(kept, locationOf(id, 'url')),
      sealer.open(keys, locationOf(id, 'keys')),
    ]);
    if (url === null || opened === null) return undefined;
    return { url, origin: new URL(url).origin, keys: readKeys(opened) };
  }
}

type Change = Exclude<WebhookFact, WebhookCreated>;

const newWebhook = (
  id: string,
  tenantId: string,
  data: WebhookCreated['data'],
): IndexedWebhook => ({
  id,
  tenantId,
  appId: data.app_id,
  events: data.events,
  enabled: true,
  beginsAfter: data.begins_after ?? null,
  url: data.url,
  keys: data.keys,
});

const INDEXED = selection({ position: 'bigint' })
  .of('c')
  // Null if there is no webhook at all.
  .and(webhookRows.select('id').of('w').joined())
  .and(
    webhookRows
      .select('tenant_id', 'app_id', 'url', 'events', 'enabled', 'keys', 'begins_after')
      .of('w'),
  );
const LOAD = `SELECT ${INDEXED.columns}
  FROM webhooks.projection_checkpoints c LEFT JOIN webhooks.webhooks w ON true
  WHERE c.name = 'webhooks'`;

function indexed(row: RowOf<typeof INDEXED>): IndexedWebhook {
  const id = row.id as string;
  return {
    id,
    tenantId: row.tenant_id,
    appId: row.app_id,
    events: row.events,
    enabled: row.enabled,
    beginsAfter: row.begins_after,
    url: row.url,
    keys: { subject: subjectOf(id), box: row.keys },
  };
}
