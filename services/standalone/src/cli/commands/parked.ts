/** Lists and releases parked streams, which have an event that could not be applied. */

import { kindOf } from '@cardea/contracts';
import { consumerCore } from '@cardea/event-bus';
import {
  discardParkedStream,
  type ParkedStream,
  parkedStreams,
  type Released,
} from '@cardea/log-follower';
import {
  releasePolicyStream,
  releaseProjectionStream,
  sharedTransactions,
} from '@cardea/read-models';
import type { Part } from '@cardea/service';
import { type Call, type Command, done, table, textOf } from '../command.ts';
import type { Deployment } from '../deployment.ts';
import { NotDone, WrongUsage } from '../failures.ts';

const REASON_CHARACTERS_MAX = 500;
const SHOWN_MAX = 1000;

/** `identity/projection:users/user-<id>`: schema, owner, stream. */
type Place = { readonly part: Part; readonly owner: string; readonly streamId: string };

const idOf = (schema: string, { owner, streamId }: ParkedStream): string =>
  `${schema}/${owner}/${streamId}`;

async function allParked({ parts, shared }: Deployment) {
  const { database } = shared();
  const all = await Promise.all(
    parts().map(async ({ definition: { name } }) =>
      (await parkedStreams(database, name)).map((one) => ({
        id: idOf(name, one),
        events: one.events,
        from_position: String(one.fromPosition),
        event_type: one.eventType,
        error_code: one.errorCode,
        parked_at: one.parkedAt.toISOString(),
      })),
    ),
  );
  return all.flat();
}

export const parkedList: Command = {
  name: 'parked list',
  summary: 'Lists the parked streams.',
  run: async ({ open }) => {
    const parked = await allParked(await open());
    const rows = parked.map((one) => [
      one.id,
      `${one.events} events`,
      one.event_type,
      one.error_code,
      one.parked_at,
    ]);
    return done(rows.length === 0 ? ['No stream waits.'] : table(rows), { parked });
  },
};

export const parkedShow: Command = {
  name: 'parked show',
  summary: 'Shows the events of a parked stream without their data.',
  words: ['<id>'],
  run: async (call) => {
    const { part, owner, streamId } = await placeOf(call);
    const { rows } = await part.needs.database.system.query<{
      position: string;
      event_id: string;
      event_type: string;
      error_code: string | null;
      parked_at: Date;
    }>(
      `SELECT position, event_id, event_type, error_code, parked_at
       FROM ${part.definition.name}.parked_events WHERE owner = $1 AND stream_id = $2
       ORDER BY position LIMIT ${SHOWN_MAX}`,
      [owner, streamId],
    );
    if (rows.length === 0) throw new NotDone('this stream does not wait');
    const events = rows.map((row) => ({ ...row, parked_at: row.parked_at.toISOString() }));
    const lines = events.map((one) => [
      one.position,
      one.event_type,
      one.error_code ?? 'waits',
      one.parked_at,
    ]);
    return done(table(lines), { events });
  },
};

export const parkedRelease: Command = {
  name: 'parked release',
  summary: 'Applies the events of a parked stream in order. Remove the cause first.',
  words: ['<id>'],
  run: async (call) => {
    const place = await placeOf(call);
    const released = await release(place, await call.open());
    if (released.released) {
      return done([`Applied ${released.events} events; the stream goes on.`], released);
    }
    const { errorCode: code } = released;
    const lines = [`It cannot be applied yet (${code}); the stream still waits.`];
    return { ok: false, lines, json: { released: false, error_code: code } };
  },
};

export const parkedDiscard: Command = {
  name: 'parked discard',
  summary:
    'Discards the events of a parked stream: they never take effect, and the stream continues.',
  words: ['<id>'],
  options: { reason: { type: 'string', value: 'TEXT', help: 'reason, which the output repeats' } },
  destroys: true,
  run: async (call) => {
    const reason = textOf(call, 'reason');
    if (reason === undefined || reason.length > REASON_CHARACTERS_MAX) {
      throw new WrongUsage(`needs --reason, of ${REASON_CHARACTERS_MAX} characters at most`);
    }
    const { part, owner, streamId } = await placeOf(call);
    const { name: schema } = part.definition;
    const of = { schema, owner, streamId };
    const events = await discardParkedStream(part.needs.database, of);
    if (events === 0) throw new NotDone('this stream does not wait');
    return done([`Forgot ${events} events: ${reason}.`], { discarded: events, reason });
  },
};

async function placeOf({ words, open }: Call): Promise<Place> {
  const [schema = '', owner = '', ...rest] = (words[0] ?? '').split('/');
  const streamId = rest.join('/');
  const part = (await open()).parts().find(({ definition }) => definition.name === schema);
  if (part === undefined || owner === '' || streamId === '') {
    throw new WrongUsage('takes an id as "parked list" shows it');
  }
  return { part, owner, streamId };
}

async function release(
  { part, owner, streamId }: Place,
  { shared }: Deployment,
): Promise<Released> {
  const { needs, service, definition } = part;
  const { database, store } = needs;
  const { name: schema } = definition;
  const [kind, name] = owner.split(':');
  switch (kind) {
    case 'projection': {
      const projection = service.projections.find((one) => one.name === name);
      if (projection === undefined) break;
      const open = needs.sealer.open.bind(needs.sealer);
      return releaseProjectionStream({ projection, streamId, store, database, schema, open });
    }
    case 'policy': {
      const policy = service.policies.find((one) => one.name === name);
      if (policy === undefined) break;
      return releasePolicyStream({ policy, streamId, store, database, schema });
    }
    case 'consumer': {
      const consumer = service.consumers.find((one) => one.name === name);
      if (consumer === undefined) break;
      const core = consumerCore(consumer, {
        database,
        bus: database,
        schema,
        shared: sharedTransactions(database),
        deadLetters: { putAway: async () => {} },
        kindOf,
        clock: shared().clock,
        log: shared().log,
      });
      return released(() => core.release(streamId));
    }
    case 'relay':
      throw new NotDone('a relay tries what it holds back each minute by itself');
  }
  throw new NotDone('nothing of this name parks streams in this version');
}

async function released(work: () => Promise<void>): Promise<Released> {
  try {
    await work();
    return { released: true, events: 0 };
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    return { released: false, errorCode: typeof code === 'string' ? code : (error as Error).name };
  }
}
