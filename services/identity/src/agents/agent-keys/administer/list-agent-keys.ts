/** Lists the keys of one agent that are not revoked, newest first. */
import type { Database, RowOf } from '@cardea/read-models';
import { agentKeyRows } from '../agent-keys.projection.ts';

/** The most keys that the list of one agent shows. */
const KEYS_MAX = 1_000;

const LISTED = agentKeyRows.select(
  'id',
  'agent_id',
  'name',
  'environment',
  'allowed_cidrs',
  'created_at',
  'expires_at',
  'last_used_at',
);

export async function listAgentKeys(
  database: Database,
  of: { readonly tenantId: string; readonly agentId: string },
) {
  const { rows } = await database.tenant(of.tenantId).query<RowOf<typeof LISTED>>(
    `SELECT ${LISTED.columns}
       FROM identity.agent_keys
       WHERE tenant_id = $1 AND agent_id = $2 AND revoked_at IS NULL
       ORDER BY created_at DESC, id LIMIT $3`,
    [of.tenantId, of.agentId, KEYS_MAX],
  );
  return rows.map(({ environment, ...row }) => ({
    ...row,
    prefix: prefixOfAgentKey({ environment, id: row.id }),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
  }));
}

/** The prefix identifies a key in a list or a log. It cannot be used to authenticate. */
export const prefixOfAgentKey = (key: { readonly environment: string; readonly id: string }) =>
  `agk_${key.environment}_${key.id}`;
