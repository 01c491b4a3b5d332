/** Reads channels for the people who manage them. */
import { type Database, orNull, type RowOf, selection } from '@cardea/read-models';
import type { Manager } from './channel.ts';
import { type ChannelShape, recipientShown } from './channel-shape.ts';
import { channelRows } from './channels.projection.ts';

const CHANNEL = channelRows
  .select('id', 'name', 'format', 'origin', 'recipient', 'min_severity', 'enabled', 'created_at')
  .of('c');
/** The outcome of the last message. */
const SENT = selection({ last_sent_at: orNull('timestamptz'), last_error: orNull('text') });
const MANAGED = CHANNEL.and(SENT.of('s').joined());

/** The person's own channels and, for administrators, those of the tenant. Limits keep the list short. */
export async function managedRows(
  database: Database,
  tenantId: string,
  { userId, isAdmin }: Manager,
): Promise<readonly ChannelShape[]> {
  const { rows } = await database.tenant(tenantId).query<RowOf<typeof MANAGED>>(
    `SELECT ${MANAGED.columns} FROM approval.channels c
     LEFT JOIN approval.channel_states s ON s.tenant_id = c.tenant_id AND s.channel_id = c.id
     WHERE c.tenant_id = $1 AND (c.owner = $2 OR ($3 AND c.owner IS NULL))
     ORDER BY c.created_at, c.id`,
    [tenantId, userId, isAdmin],
  );
  return rows.map(({ created_at, last_sent_at, recipient, ...row }) => ({
    ...row,
    recipient: recipientShown(recipient),
    created_at: created_at.toISOString(),
    last_sent_at: last_sent_at?.toISOString() ?? null,
  }));
}

/** The number of channels of a person, or of the tenant. */
export async function countChannels(
  database: Database,
  tenantId: string,
  owner: string | null,
): Promise<number> {
  const { rows } = await database.tenant(tenantId).query<{ count: number }>(
    `SELECT count(*)::int AS count FROM approval.channels
     WHERE tenant_id = $1 AND owner IS NOT DISTINCT FROM $2`,
    [tenantId, owner],
  );
  return rows[0]?.count ?? 0;
}

/** The outcome of the last message to a channel. */
export async function lastSent(
  database: Database,
  tenantId: string,
  id: string,
): Promise<Pick<ChannelShape, 'last_sent_at' | 'last_error'>> {
  const { rows } = await database.tenant(tenantId).query<RowOf<typeof SENT>>(
    `SELECT ${SENT.columns} FROM approval.channel_states
     WHERE tenant_id = $1 AND channel_id = $2`,
    [tenantId, id],
  );
  const [row] = rows;
  return {
    last_sent_at: row?.last_sent_at?.toISOString() ?? null,
    last_error: row?.last_error ?? null,
  };
}
