/**
 * Every webhook, in the memory of this process and level with its own log: matching an event and sending
 * to a webhook ask no table, and a change holds for this process from the moment it was passed here.
 */
import type { WebhookEvent } from '@cardea/contracts';
import type { Sealed, Sealer } from '@cardea/crypto';
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import { readKeys, type SigningKeys } from '../adapters/signing.ts';
import { placeOf, subjectOf, type WebhookCreated, type WebhookFact } from './webhook.ts';
import { isWebhookStream, webhookIdOf } from './webhooks.projection.ts';

const PAGE_EVENTS = 500;
/** The log is looked at this often even when nothing announces an append. */
const BEAT_MS = 1_000;
const WAITERS_MAX = 10_000;
/** An event that is older than a webhook by more than this is none of its business. */
const OLDER_MS_MAX = 5_000;

/** Where to send and how to sign; undefined once its key was erased. */
export type Target = { readonly url: string; readonly origin: string; readonly keys: SigningKeys };

export type IndexedWebhook = {
  readonly id: string;
  readonly tenantId: string;
  readonly appId: string | null;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  readonly createdAtMs: number;
  readonly url: string | Sealed;
  readonly keys: Sealed;
  /** Opened when it is first needed, and once. */
  target?: Promise<Target | undefined>;
};

type Needs = {
  readonly store: EventStore;
  readonly database: Database;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly clock: Clock;
};

type Happening = {
  readonly tenantId: string;
  readonly event: WebhookEvent;
  readonly appId: string | null;
  readonly at: Date;
};

export class WebhookIndex {
  readonly #needs: Needs;
  readonly #byId = new Map<string, IndexedWebhook>();
  readonly #byTenant = new Map<string, Set<string>>();
  readonly #waiters = new Set<{ readonly position: bigint; readonly wake: () => void }>();
  #position = 0n;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  get position(): bigint {
    return this.#position;
  }

  get(id: string): IndexedWebhook | undefined {
    return this.#byId.get(id);
  }

  countOf(tenantId: string): number {
    return this.#byTenant.get(tenantId)?.size ?? 0;
  }

  /** The enabled webhooks that want to hear of it. */
  matching({ tenantId, event, appId, at }: Happening): readonly IndexedWebhook[] {
    const ids = [...(this.#byTenant.get(tenantId) ?? [])];
    return ids
      .map((id) => this.#byId.get(id) as IndexedWebhook)
      .filter(
        (webhook) =>
          webhook.enabled &&
          webhook.events.includes(event) &&
          (webhook.appId === null || webhook.appId === appId) &&
          webhook.createdAtMs - at.getTime() <= OLDER_MS_MAX,
      );
  }

  target(webhook: IndexedWebhook): Promise<Target | undefined> {
    webhook.target ??= this.#open(webhook).catch((error) => {
      delete webhook.target; // the key may be readable the next time
      throw error;
    });
    return webhook.target;
  }

  /** True when everything up to the position was taken in within the time. */
  async reached(position: bigint, timeoutMs: number): Promise<boolean> {
    if (this.#position >= position) return true;
    if (this.#waiters.size >= WAITERS_MAX) return false;
    const woken = new AbortController();
    const waiter = { position, wake: () => woken.abort() };
    this.#waiters.add(waiter);
    await this.#needs.clock.sleep(timeoutMs, woken.signal);
    this.#waiters.delete(waiter);
    return this.#position >= position;
  }

  /** Once, before the first request. */
  async load(): Promise<void> {
    const { rows } = await this.#needs.database.system.query<Row>(LOAD);
    for (const row of rows) {
      if (row.id !== null) this.#put(indexed(row));
      this.#position = BigInt(row.position);
    }
  }

  /** Follows the log until the signal aborts. */
  async run(signal: AbortSignal, tick: () => void): Promise<void> {
    const { store, clock } = this.#needs;
    let woken = new AbortController();
    const unsubscribe = await store.subscribe(store.log, () => woken.abort());
    const stop = (): void => woken.abort();
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) {
        woken = new AbortController();
        tick();
        const full = await this.#takeIn();
        if (!full && !signal.aborted) await clock.sleep(BEAT_MS, woken.signal);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      await unsubscribe();
    }
  }

  async #takeIn(): Promise<boolean> {
    const { store } = this.#needs;
    const events = await store.readLog(store.log, this.#position, PAGE_EVENTS);
    for (const event of events) if (isWebhookStream(event.streamId)) this.#apply(event);
    const last = events.at(-1);
    if (last !== undefined) this.#position = last.position;
    for (const waiter of [...this.#waiters]) {
      if (waiter.position <= this.#position) waiter.wake();
    }
    return events.length === PAGE_EVENTS;
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
      typeof kept === 'string' ? kept : sealer.open(kept, placeOf(id, 'url')),
      sealer.open(keys, placeOf(id, 'keys')),
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
  createdAtMs: Date.parse(data.created_at),
  url: data.url,
  keys: data.keys,
});

const LOAD = `SELECT c.position, w.id, w.tenant_id, w.app_id, w.url, w.events, w.enabled, w.keys, w.created_at
  FROM webhooks.projection_checkpoints c LEFT JOIN webhooks.webhooks w ON true
  WHERE c.name = 'webhooks'`;

type Row = {
  readonly position: string;
  /** Null where there is no webhook at all. */
  readonly id: string | null;
  readonly tenant_id: string;
  readonly app_id: string | null;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  readonly keys: string;
  readonly created_at: Date;
};

function indexed(row: Row): IndexedWebhook {
  const id = row.id as string;
  return {
    id,
    tenantId: row.tenant_id,
    appId: row.app_id,
    events: row.events,
    enabled: row.enabled,
    createdAtMs: row.created_at.getTime(),
    url: row.url,
    keys: { subject: subjectOf(id), box: row.keys },
  };
}
