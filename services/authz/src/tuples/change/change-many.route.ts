import { documented } from '@cardea/contracts';
import {
  type Command,
  type Decided,
  type Decision,
  type Streams,
  WriteContention,
} from '@cardea/event-store';
import { endpoint, refusalOfThrow } from '@cardea/http';
import { type Ids, uuidFrom } from '@cardea/runtime';
import Type from 'typebox';
import { tupleKey } from '../../adapters/tuple-key.ts';
import { WRITES } from '../../http/endpoint-defaults.ts';
import { tupleShape } from '../../http/tuple-shape.ts';
import { settle } from '../../http/writing.ts';
import {
  type NoOpWriteEvent,
  noOpWrites,
  recordNoOpWrite,
} from '../../no-op-writes/no-op-write.ts';
import type { Fields } from '../../relations/relation.ts';
import { changesShape, faultsUnder, NOT_EMPTY, readBatch } from '../change-batch.ts';
import { type Tuple, type TupleEvent, tuples } from '../tuple.ts';
import type { ChangeDependencies } from './change-dependencies.ts';
import { deleteTuple } from './delete.ts';
import { write } from './write.ts';

const error = Type.Optional(Type.Object({ code: Type.String(), message: Type.String() }));
const written = Type.Object({
  status: Type.Optional(Type.Enum(['created', 'existed'])),
  tuple: Type.Optional(tupleShape),
  error,
});
const deleted = Type.Object({ status: Type.Optional(Type.Enum(['deleted', 'absent'])), error });

export const changeTuplesRoute = (needs: ChangeDependencies & { readonly ids: Ids }) =>
  endpoint(
    {
      ...WRITES,
      name: 'change_tuples',
      repeat: 'safe',
      summary: 'Write and delete up to 100 tuples, each decided alone',
      description:
        'Writes and deletes 1 to 100 tuples, none of them twice. All are validated before anything is stored. Then each is decided by itself, so that one may have an `error` while the others hold: this is not a transaction.',
      method: 'post',
      path: '/api/v1/fga/tuples/batch',
      body: documented(Type.Object(changesShape), NOT_EMPTY),
      ok: Type.Object({ written: Type.Array(written), deleted: Type.Array(deleted) }),
      refusals: { invalid_request: 400 },
      consistency: { waitsFor: ['tuples'] },
    },
    async (request) => {
      const { tenantId } = request;
      const batch = readBatch(request.body);
      if ('refused' in batch) return batch;
      const faults = faultsUnder(await needs.models.of(tenantId), batch);
      if (faults !== undefined) return faults;
      const { writes, deletes } = batch;
      const command = await needs.command(request);
      const outcomes = await decideAll(needs, command, [
        ...writes.map((fields) => ({
          fields,
          isNew: true,
          decide: (tuple: Tuple) =>
            write({ id: needs.ids.next(), fields, now: command.now }, tuple),
        })),
        ...deletes.map((fields) => ({
          fields,
          decide: (tuple: Tuple) => deleteTuple(fields, tuple),
        })),
      ]);
      const position = await recordNoOps(needs, command, outcomes);
      if (position !== undefined) await settle(needs, tenantId, position);
      return {
        ok: {
          written: outcomes.slice(0, writes.length).map((one) => shownWrite(tenantId, one)),
          deleted: outcomes.slice(writes.length).map(shownDelete),
        },
        ...(position === undefined ? {} : { wrote: position }),
      };
    },
  );

type Change = {
  readonly fields: Fields;
  readonly isNew?: boolean;
  readonly decide: (tuple: Tuple) => Decision<TupleEvent, never>;
};
type Outcome = { readonly fields: Fields } & (
  | { readonly decided: Decided<Tuple, TupleEvent, never> }
  | { readonly failed: unknown }
);

/**
 * Decides all changes in one batch. If writers conflict on a tuple, each change is decided separately, so that only
 * that one fails.
 */
async function decideAll(
  { streams }: { readonly streams: Streams },
  command: Command,
  changes: readonly Change[],
): Promise<readonly Outcome[]> {
  const { tenantId } = command.metadata;
  const commands = changes.map(({ fields, ...change }) => ({
    id: tupleKey(tenantId, fields),
    command,
    ...change,
  }));
  const all = await streams.decideOnMany(tuples, commands).catch((error: unknown) => {
    if (error instanceof WriteContention) return undefined;
    throw error;
  });
  const settled = await Promise.allSettled(
    commands.map(
      async ({ id, decide }, at) => all?.[at] ?? streams.decideOn(tuples, id, command, decide),
    ),
  );
  return settled.map((one, at) => {
    const { fields } = changes[at] as Change;
    return one.status === 'fulfilled'
      ? { fields, decided: one.value }
      : { fields, failed: one.reason };
  });
}

/** Records changes without effect too. Returns the position of the last event, or undefined if all failed. */
async function recordNoOps(
  { streams }: { readonly streams: Streams },
  command: Command,
  outcomes: readonly Outcome[],
): Promise<bigint | undefined> {
  const decided = outcomes.flatMap((one) => ('decided' in one ? [one] : []));
  const repeats = decided.flatMap(({ fields, decided: { position, state } }): NoOpWriteEvent[] => {
    if (position !== undefined) return [];
    return state.status === 'standing'
      ? [{ type: 'TupleWriteRepeated', data: { tuple_id: state.id, ...fields } }]
      : [{ type: 'TupleDeleteRepeated', data: { tuple_id: null, ...fields } }];
  });
  const recorded = await streams.decideOnMany(
    noOpWrites,
    repeats.map((event) => ({
      id: uuidFrom(command.id, tupleKey(command.metadata.tenantId, event.data)),
      command,
      decide: recordNoOpWrite(event),
      isNew: true,
    })),
  );
  return [...decided.map(({ decided }) => decided), ...recorded]
    .flatMap(({ position }) => position ?? [])
    .reduce<bigint | undefined>(
      (last, each) => (last !== undefined && last > each ? last : each),
      undefined,
    );
}

function shownWrite(tenantId: string, outcome: Outcome) {
  if ('failed' in outcome) return { error: errorOf(outcome.failed) };
  const { decided, fields } = outcome;
  const { state } = decided;
  if (state.status === 'absent') throw new Error('a written tuple does not stand');
  const tuple = { id: state.id, tenant_id: tenantId, ...fields, created_at: state.createdAt };
  return { status: decided.position === undefined ? 'existed' : 'created', tuple } as const;
}

const shownDelete = (outcome: Outcome) =>
  'failed' in outcome
    ? { error: errorOf(outcome.failed) }
    : ({ status: outcome.decided.position === undefined ? 'absent' : 'deleted' } as const);

/** Returns the refusal that a single change would get. An internal error applies to the whole request. */
function errorOf(failed: unknown): { readonly code: string; readonly message: string } {
  const { status, code, message } = refusalOfThrow(failed);
  if (status === 500) throw failed;
  return { code, message };
}
