/**
 * The events that a service has published about one actor. Audit rows, webhooks and other services use nothing else.
 */
import { type ServiceName, topicOf } from '@cardea/contracts';
import { untilTrue } from '../until-true.ts';
import type { ServiceFixture } from './service-fixture.ts';

type Published = {
  readonly type: string;
  readonly actor: object;
  readonly data: { readonly context: { readonly [name: string]: unknown } };
};

const IDS = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const ADDRESSES = /[\w.+-]+@example\.com/g;

/**
 * Returns the events of one actor after a position of the log, in order. Values that differ between any two requests
 * are removed: ids, times, addresses, and the client's own name.
 */
export async function publishedBy(
  { host, shared }: Pick<ServiceFixture, 'host' | 'shared'>,
  of: {
    readonly service: ServiceName;
    readonly tenantId: string;
    readonly actorId: string;
    readonly after: bigint;
  },
): Promise<readonly string[]> {
  const { service, tenantId, actorId, after } = of;
  const sql = shared.database.system;
  const head = await host.needsOf(service).store.head(service);
  await untilTrue(
    async () => {
      const { rows } = await sql.query<{ position: string }>(
        'SELECT position FROM bus.relay_checkpoints WHERE log = $1',
        [service],
      );
      return BigInt(rows[0]?.position ?? 0) >= head;
    },
    { what: 'what was written to be published' },
  );
  const { rows } = await sql.query<{ value: Published }>(
    `SELECT value FROM bus.records
     WHERE topic = $1 AND value->>'tenantId' = $2 AND value->'actor'->>'id' = $3
       AND (value->>'position')::bigint > $4
     ORDER BY (value->>'position')::bigint, "offset"`,
    [topicOf(service), tenantId, actorId, after],
  );
  return rows.map(({ value }) => comparable(value));
}

function comparable({ type, actor, data }: Published): string {
  const { user_agent, request_id, ...context } = data.context;
  const has = { user_agent: user_agent !== null, request_id: request_id !== null };
  const text = JSON.stringify({ type, actor, data: { ...data, context: { ...context, ...has } } });
  return text.replaceAll(IDS, 'id').replaceAll(TIMES, 'time').replaceAll(ADDRESSES, 'address');
}
