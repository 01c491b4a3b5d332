import type { EventContext, IntegrationEvent, JsonObject } from '@cardea/contracts';
import type { Sealed, Sealer } from '@cardea/crypto';
import { contextLocation } from '@cardea/crypto';
import { type EventStore, type RecordedEvent, streamPages } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { Mapped, RelayMapper } from '../bus.ts';
import type { KindOf } from '../consuming/records.ts';
import { streamStates } from './stream-states.ts';

/**
 * The integration events of a private event: none, one, or several with the same position. Their data must fit the
 * declared schema exactly. Otherwise the event is not published at all.
 */
export const integrationEventsOf = ({
  map,
  store,
  sealer,
  kindOf,
  logEpoch,
}: MappingDependencies) => {
  const folded = streamStates(store);
  return async (
    event: RecordedEvent,
    contexts: OpenedContexts = new Map(),
  ): Promise<readonly IntegrationEvent[]> => {
    if (event.fault !== undefined) throw event.fault;
    const mapped = await map(event, {
      open: (sealed, place) => sealer.open(sealed, place),
      stateAt: (stream) => folded.stateAt(stream, event),
      history: () => historyOf(store, event),
    });
    const all = listOf(mapped);
    if (all.length === 0) return [];
    const context = await contextOf(event, sealer, contexts);
    return all.map((one, part) => {
      const { type, schemaVersion = 1, data } = one;
      const whole = { ...data, context } as JsonObject & { readonly context: EventContext };
      const kind = kindOf(event.log, type, schemaVersion);
      if (kind === undefined) throw new NotPublishable(type, ['is not declared']);
      if (!kind.mayBePublished(whole)) throw new NotPublishable(type, kind.faults(whole));
      return { ...envelopeOf(event, part), logEpoch, type, schemaVersion, data: whole };
    });
  };
};

const historyOf = async (
  store: MappingDependencies['store'],
  event: RecordedEvent,
): Promise<readonly RecordedEvent[]> => {
  if (event.revision === 1) return [event];
  const events: RecordedEvent[] = [];
  for await (const page of streamPages(store, event.streamId)) {
    events.push(...page.filter(({ revision }) => revision <= event.revision));
    if ((page.at(-1)?.revision ?? 0) >= event.revision) break;
  }
  return events;
};

/**
 * Decrypted fields by their ciphertext, cached for one batch of events, because the events of one command share them.
 * The cache ends with the batch, because a ciphertext's key may be erased later.
 */
export type OpenedContexts = Map<string, string | null>;

export type MappingDependencies = {
  readonly map: RelayMapper;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly kindOf: KindOf;
  readonly logEpoch: string;
};

/** A mapper returned data that its service has not declared. The message names fields and rules, no values. */
export class NotPublishable extends Error {
  override readonly name = 'NotPublishable';
  constructor(type: string, faults: readonly string[]) {
    super(`${type}: ${faults.join(', ')}`);
  }
}

/** All events of one private event have the same stream id. */
const CONTEXT_STREAM = contextLocation('', new Date(0), 'ip').streamId;
const USER_AGENT_MAX_CHARS = 512;

const listOf = (mapped: Awaited<ReturnType<RelayMapper>>): readonly Mapped[] => {
  if (mapped === undefined) return [];
  return isList(mapped) ? mapped : [mapped];
};
const isList = (mapped: Mapped | readonly Mapped[]): mapped is readonly Mapped[] =>
  Array.isArray(mapped);

/** The first part has the private event's own id. */
const envelopeOf = (event: RecordedEvent, part: number) => {
  const { metadata } = event;
  return {
    id: part === 0 ? event.id : uuidFrom('part', event.id, String(part)),
    source: event.log,
    time: event.time.toISOString(),
    tenantId: metadata.tenantId,
    streamId: event.streamId,
    position: String(event.position),
    ...(part === 0 ? {} : { part }),
    actor: metadata.actor,
    ...given('correlationId', metadata.correlationId),
    ...given('causationId', metadata.causationId),
    ...given('traceparent', metadata.traceparent),
  };
};

const given = <Name extends string>(name: Name, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [name in Name]?: string };

/** Who made the request, from where and through which application. Fields are null if unknown or erased. */
const contextOf = async (
  { metadata }: RecordedEvent,
  sealer: Pick<Sealer, 'open'>,
  contexts: OpenedContexts,
): Promise<EventContext> => {
  const open = async (sealed: Sealed | undefined, field: 'ip' | 'user_agent') => {
    if (sealed === undefined) return null;
    const name = `${field} ${sealed.subject} ${sealed.box}`;
    const known = contexts.get(name);
    if (known !== undefined) return known;
    const opened = await sealer.open(sealed, { streamId: CONTEXT_STREAM, field });
    contexts.set(name, opened);
    return opened;
  };
  const userAgent = await open(metadata.userAgent, 'user_agent');
  return {
    ip: await open(metadata.ip, 'ip'),
    user_agent: userAgent?.slice(0, USER_AGENT_MAX_CHARS) ?? null,
    app_id: metadata.appId ?? null,
    ...(metadata.appClaimed === true ? { app_claimed: true as const } : {}),
    agent_id: metadata.agentId ?? null,
    request_id: metadata.requestId ?? null,
  };
};
