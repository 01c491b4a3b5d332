/**
 * A service's own copies of identity's data about users and agents. Each is a row with the columns that the service
 * selects, written from identity's events. The rows may lag (`fact-copies.ts`).
 */
import type { IntegrationEvent, identityEvents } from '@cardea/contracts';
import type { Heard } from '@cardea/event-bus';
import {
  type Columns,
  type Database,
  jsonOf,
  namedColumns,
  orNull,
  patch,
  put,
  type ReadRow,
  remove,
  type Table,
  type TableSelection,
  type TableWrite,
  table,
  upsert,
  type WrittenRow,
} from '@cardea/read-models';
import { cleaned } from '@cardea/runtime';

const USER = {
  email: orNull('text'),
  display_name: orNull('text'),
  locale: orNull('text'),
  status: 'text',
  vouched: 'boolean',
  /** The position of the event from which the row was written. 0 if the row is older than this column. */
  position: 'bigint',
} as const;
export type UserCopy = Copied<typeof USER>;

const AGENT = {
  name: 'text',
  owner_user_id: orNull('text'),
  status: 'text',
  services: jsonOf<AgentEvent['data']['services']>(),
  /** Users and sets to which the agent may send requests, in addition to its session's user and its owner. */
  approvers: 'text[]',
  /** The time at which `services` last changed. */
  changed_at: 'timestamptz',
  position: 'bigint',
} as const;
export type AgentCopy = Copied<typeof AGENT>;

/** A copy in memory: positions are numbers there, and texts in the rows. */
type Copied<C extends Columns> = Omit<WrittenRow<C>, 'position'> & { readonly position: bigint };

type UserEvent = Heard<
  typeof identityEvents,
  'user.created' | 'user.updated' | 'user.status_changed' | 'user.email_verified'
>;
type AgentEvent = Heard<
  typeof identityEvents,
  'agent.created' | 'agent.updated' | 'agent.suspended' | 'agent.resumed'
>;

/** One service's copies of one kind of thing. */
export type Copies<Copy, Row, Event> = {
  /** The columns that a query of the service reads. */
  readonly select: <const Name extends keyof Copy & keyof Row & string>(
    ...names: readonly Name[]
  ) => TableSelection<Pick<Row, Name>>;
  /** The table to list in `rows` of the service's consumer. */
  readonly table: Table;
  /** Writes a row from an older event. Columns that the event omits keep their values. */
  readonly keep: (event: Event) => TableWrite;
  readonly put: (event: About, copy: Copy) => TableWrite;
  readonly patch: (event: About, columns: Partial<Copy>) => TableWrite;
  readonly remove: (event: About) => TableWrite;
  readonly find: (
    database: Pick<Database, 'tenant'>,
    tenantId: string,
    id: string,
  ) => Promise<Copy | undefined>;
};
type About = Pick<IntegrationEvent, 'tenantId'> & { readonly data: { readonly id: string } };

export const userCopies = <const Column extends keyof UserCopy>(
  schema: string,
  ...columns: readonly Column[]
): Copies<Pick<UserCopy, Column>, ReadRow<typeof USER>, UserEvent> =>
  copies<UserCopy, Column, ReadRow<typeof USER>, UserEvent>({
    schema,
    name: 'users',
    id: 'user_id',
    types: USER,
    columns,
    factsOf: ({ position, data: { email, display_name, locale, status, vouched } }) => ({
      email,
      display_name,
      locale,
      status,
      vouched,
      position: BigInt(position),
    }),
    fresh: { vouched: false, locale: null },
  });

export const agentCopies = <const Column extends keyof AgentCopy>(
  schema: string,
  ...columns: readonly Column[]
): Copies<Pick<AgentCopy, Column>, ReadRow<typeof AGENT>, AgentEvent> =>
  copies<AgentCopy, Column, ReadRow<typeof AGENT>, AgentEvent>({
    schema,
    name: 'agents',
    id: 'agent_id',
    types: AGENT,
    columns,
    factsOf: ({ position, time, data: { id, name, owner_user_id, status, ...of } }) => ({
      // A name is shown in mail headers and on pages, so it must have no invisible characters.
      name: cleaned(name) || id,
      owner_user_id,
      status,
      services: of.services,
      approvers: of.approvers,
      changed_at: time,
      position: BigInt(position),
    }),
    fresh: { approvers: [] },
    since: { changed_at: 'services' },
  });

type Picked<Copy, Column extends keyof Copy, Event> = {
  readonly schema: string;
  readonly name: string;
  /** The column that contains the id of the user or agent. */
  readonly id: string;
  readonly types: Columns & { readonly [C in keyof Copy]: unknown };
  readonly columns: readonly Column[];
  readonly factsOf: (event: Event) => { readonly [C in keyof Copy]: Copy[C] | undefined };
  /** The values that a new row gets for columns that older events omit. */
  readonly fresh: Partial<Copy>;
  readonly since?: { readonly [C in keyof Copy]?: keyof Copy & string };
};

function copies<Copy extends object, Column extends keyof Copy & string, Row, Event extends About>(
  of: Picked<Copy, Column, Event>,
): Copies<Pick<Copy, Column>, Row, Event> {
  const { schema, name, id, types, columns, factsOf, fresh, since } = of;
  const picked = <Value>(all: { readonly [column: string]: Value }) =>
    Object.fromEntries(
      Object.entries(all).filter(([column]) => columns.some((one) => one === column)),
    );
  const keyOf = ({ tenantId, data }: About) => ({ tenant_id: tenantId, [id]: data.id });
  const text = `SELECT ${columns.join(', ')} FROM ${schema}.${name} WHERE tenant_id = $1 AND ${id} = $2`;
  return {
    select: (...names) => namedColumns(names),
    table: table(name, {
      key: ['tenant_id', id],
      columns: { tenant_id: 'text', [id]: 'text', ...picked(types) },
      since: picked((since ?? {}) as { readonly [column: string]: string }),
    }),
    keep: (event) => ({
      table: name,
      change: upsert({ ...keyOf(event), ...picked(factsOf(event)) }, picked({ ...fresh })),
    }),
    put: (event, copy) => ({ table: name, change: put({ ...keyOf(event), ...copy }) }),
    patch: (event, changed) => ({ table: name, change: patch(keyOf(event), changed) }),
    remove: (event) => ({ table: name, change: remove(keyOf(event)) }),
    find: async (database, tenantId, of) => {
      const { rows } = await database
        .tenant(tenantId)
        .query<Pick<Copy, Column>>({ name: `${schema}_copy_of_${name}`, text }, [tenantId, of]);
      const [row] = rows;
      if (row === undefined || !('position' in row)) return row;
      return { ...row, position: BigInt(row.position as string) };
    },
  };
}
