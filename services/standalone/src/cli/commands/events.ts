/** Prints the events of a log as they are stored. Encrypted fields stay encrypted. */
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { type RecordedEvent, streamPages } from '@cardea/event-store';
import type { Part } from '@cardea/service';
import { type Call, type Command, done, numberOf, textOf } from '../command.ts';
import { WrongUsage } from '../failures.ts';

const LIMIT = 100;
const LIMIT_MAX = 10_000;
const PAGE_EVENTS_MAX = 500;
const LOOK_MS = 1000;

export const eventsRead: Command = {
  name: 'events read',
  summary: 'Prints events of a log, or of one stream, in their order.',
  words: ['<log>'],
  options: {
    stream: { type: 'string', value: 'ID', help: 'only this stream' },
    after: { type: 'string', value: 'POSITION', help: 'only events after this position (0)' },
    limit: { type: 'string', value: 'N', help: `most events to print (${LIMIT})` },
  },
  run: async (call) => {
    const part = await logOf(call);
    const limit = numberOf(call, 'limit', { min: 1, max: LIMIT_MAX, or: LIMIT });
    const after = positionOf(call);
    const stream = textOf(call, 'stream');
    const events =
      stream === undefined
        ? await part.needs.store.readLog(part.definition.name, after, limit)
        : await ofStream(part, { stream, after, limit });
    for (const event of events.slice(0, limit)) tellOf(call, event);
    return done([], { events: Math.min(events.length, limit) });
  },
};

export const eventsTail: Command = {
  name: 'events tail',
  summary: 'Prints events of a log as they come, until Ctrl-C.',
  words: ['<log>'],
  options: {
    after: {
      type: 'string',
      value: 'POSITION',
      help: 'only events after this position (the end of the log)',
    },
  },
  run: async (call) => {
    const part = await logOf(call);
    const { store, clock } = part.needs;
    const { name } = part.definition;
    let position = call.options['after'] === undefined ? await store.head(name) : positionOf(call);
    while (!call.signal.aborted) {
      const events = await store.readLog(name, position, PAGE_EVENTS_MAX);
      for (const event of events) tellOf(call, event);
      position = events.at(-1)?.position ?? position;
      if (events.length === 0) await clock.sleep(LOOK_MS, call.signal);
    }
    return done([]);
  },
};

async function ofStream(
  part: Part,
  {
    stream,
    after,
    limit,
  }: { readonly stream: string; readonly after: bigint; readonly limit: number },
): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of streamPages(part.needs.store, stream)) {
    events.push(...page.filter(({ position }) => position > after));
    if (events.length >= limit) break;
  }
  return events;
}

async function logOf({ words, open }: Call): Promise<Part> {
  const [log] = words;
  if (!SERVICE_NAMES.includes(log as ServiceName)) {
    throw new WrongUsage(`the logs are ${SERVICE_NAMES.join(', ')}`);
  }
  const part = (await open()).parts().find(({ definition }) => definition.name === log);
  if (part === undefined) throw new Error('a service without a log');
  return part;
}

function positionOf(call: Call): bigint {
  const given = textOf(call, 'after') ?? '0';
  if (!/^\d{1,19}$/.test(given)) throw new WrongUsage('--after takes a position');
  return BigInt(given);
}

function tellOf({ tell }: Call, event: RecordedEvent): void {
  const { position, time, type, streamId, revision, id, metadata } = event;
  const data = withoutSealed(event.data);
  const at = time.toISOString();
  tell(`${position}  ${at}  ${type}  ${streamId}@${revision}  ${JSON.stringify(data)}`, {
    position: String(position),
    time: at,
    type,
    stream_id: streamId,
    revision,
    id,
    tenant_id: metadata.tenantId,
    actor: metadata.actor,
    data,
  });
}

/** Recognises an encrypted field by its subject and ciphertext. */
function withoutSealed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSealed);
  if (typeof value !== 'object' || value === null) return value;
  if ('box' in value && 'subject' in value) return '(sealed)';
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutSealed(inner)]),
  );
}
