/** Maintains table `channels`, which the lists and the sender read. */
import { orNull, projection, type Statement, table, textOf } from '@cardea/read-models';
import { type TenantForgotten, tenantRowsDeleted } from '@cardea/service';
import type { Severity } from '../requests/requests.module.ts';
import { type ChannelEvent, type ChannelFacts, type ChannelFormat, channels } from './channel.ts';

export const CHANNELS_TABLE = 'channels';

export const channelRows = table(CHANNELS_TABLE, {
  key: ['tenant_id', 'id'],
  columns: {
    tenant_id: 'text',
    id: 'text',
    name: 'text',
    format: textOf<ChannelFormat>(),
    url: 'jsonb',
    token: orNull('jsonb'),
    origin: 'text',
    recipient: orNull('text'),
    owner: orNull('text'),
    min_severity: textOf<Severity>(),
    enabled: 'boolean',
    created_at: 'timestamptz',
  },
});

type Event = {
  readonly streamId: string;
  readonly metadata: { readonly tenantId: string };
};
export const channelIdOf = ({ streamId }: Pick<Event, 'streamId'>): string =>
  streamId.slice(channels.noun.length + 1);
const keyOf = (event: Event) => ({ tenant_id: event.metadata.tenantId, id: channelIdOf(event) });

const rowOf = (event: Event & { readonly data: ChannelFacts }) => ({
  ...keyOf(event),
  name: event.data.name,
  format: event.data.format,
  url: event.data.url,
  token: event.data.token,
  origin: event.data.origin,
  recipient: event.data.recipient,
  owner: event.data.owner,
  min_severity: event.data.min_severity,
  enabled: event.data.enabled,
  created_at: event.data.created_at,
});

/** Tables of delivery state, which a rebuild does not restore. */
const DELIVERY_TABLES = ['approval.channel_jobs', 'approval.channel_states'] as const;

function deliveryDeleted(events: readonly Event[]): readonly Statement[] {
  if (events.length === 0) return [];
  const keys = events.map(keyOf);
  const values = [keys.map(({ tenant_id }) => tenant_id), keys.map(({ id }) => id)];
  return DELIVERY_TABLES.map((of) => ({
    text: `DELETE FROM ${of} WHERE (tenant_id, channel_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    values,
  }));
}

export const channelsTable = projection<ChannelEvent | TenantForgotten>()({
  name: CHANNELS_TABLE,
  log: 'approval',
  tables: [channelRows],
  on: {
    ChannelCreated: (event) => [channelRows.put(rowOf(event))],
    ChannelChanged: (event) => [channelRows.put(rowOf(event))],
    ChannelDeleted: (event) => [channelRows.remove(keyOf(event))],
  },
  apply: {
    on: ['ChannelDeleted', 'TenantForgotten'],
    statements: (events, { rebuilding, schema }) => [
      ...(rebuilding
        ? []
        : deliveryDeleted(
            events.flatMap((event) => (event.type === 'ChannelDeleted' ? [event] : [])),
          )),
      ...tenantRowsDeleted(
        events.flatMap((event) => (event.type === 'TenantForgotten' ? [event] : [])),
        [`${schema}.${CHANNELS_TABLE}`, ...(rebuilding ? [] : DELIVERY_TABLES)],
      ),
    ],
  },
});
