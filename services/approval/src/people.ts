/** Users, agents and tenants as identity's events have brought them here; late, but never wrong for long. */
import type { Database } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import { LATE_ROW_PAUSES_MS } from './limits.ts';

export type Person = { readonly email: string; readonly status: string };
export type Agent = {
  readonly name: string;
  readonly ownerUserId: string | null;
  readonly status: string;
};

export type People = {
  user(tenantId: string, id: string): Promise<Person | undefined>;
  agent(tenantId: string, id: string): Promise<Agent | undefined>;
  /** In order of sending. */
  channels(tenantId: string): Promise<readonly string[]>;
};

/** Identity's own default (`design/approval.md` section 7). */
const CHANNELS_DEFAULT = ['email', 'webhook'];

export function people(database: Database): People {
  const one = async <Row extends object>(
    tenantId: string,
    sql: string,
    id?: string,
  ): Promise<Row | undefined> => {
    const values = id === undefined ? [tenantId] : [tenantId, id];
    const { rows } = await database.asTenant(tenantId, (on) => on.query<Row>(sql, values));
    return rows[0];
  };
  return {
    user: async (tenantId, id) => {
      const row = await one<{ email: string | null; status: string }>(
        tenantId,
        'SELECT email, status FROM approval.users WHERE tenant_id = $1 AND user_id = $2',
        id,
      );
      return row === undefined ? undefined : { email: row.email ?? '', status: row.status };
    },
    agent: async (tenantId, id) => {
      const row = await one<{ name: string; owner_user_id: string | null; status: string }>(
        tenantId,
        `SELECT name, owner_user_id, status FROM approval.agents
         WHERE tenant_id = $1 AND agent_id = $2`,
        id,
      );
      if (row === undefined) return undefined;
      return { name: row.name, ownerUserId: row.owner_user_id, status: row.status };
    },
    channels: async (tenantId) => {
      const row = await one<{ channels: string[] }>(
        tenantId,
        'SELECT channels FROM approval.tenants WHERE tenant_id = $1',
      );
      return row?.channels ?? CHANNELS_DEFAULT;
    },
  };
}

export const isActive = (one: { readonly status: string } | undefined): boolean =>
  one === undefined ||
  (one.status !== 'disabled' && one.status !== 'suspended' && one.status !== 'deleted');

/** The bus lags behind a sign-up: a row that is missing is looked for again, twice. */
export async function patiently<Row>(
  clock: Clock,
  look: () => Promise<Row | undefined>,
): Promise<Row | undefined> {
  for (const pauseMs of LATE_ROW_PAUSES_MS) {
    const row = await look();
    if (row !== undefined) return row;
    await clock.sleep(pauseMs);
  }
  return look();
}
