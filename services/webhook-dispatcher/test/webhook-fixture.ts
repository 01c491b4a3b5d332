/** A tenant's admin as a client of the webhook dispatcher, and a receiver for that tenant. */
import { createHmac } from 'node:crypto';
import {
  type FixtureOptions,
  type Received,
  type RestDriver,
  type ServiceFixture,
  serviceFixture,
} from '@cardea/testing';
import { webhooksService } from '@cardea/webhook-dispatcher';

export const ROOT = '/api/v1/webhooks';

export const startWebhookFixture = (
  options: Omit<FixtureOptions, 'definitions'>,
): Promise<ServiceFixture> => serviceFixture({ ...options, definitions: [webhooksService] });

/** Issues a new token for each call, because the clock of a test may run for hours. */
export const adminOf = (fixture: ServiceFixture, tenantId: string): RestDriver =>
  fixture.rest.as({
    tenant: tenantId,
    bearer: fixture.tokens.user({ tenantId, id: `admin-of-${tenantId}`, roles: ['admin'] }),
  });

export type Made = { readonly id: string; readonly secret: string };

export async function makeWebhook(
  admin: RestDriver,
  url: string,
  events: readonly string[] = ['user.created'],
): Promise<Made> {
  const { status, body } = await admin.post(ROOT, { url, events });
  if (status !== 201) throw new Error(`no webhook: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Verifies a signature as a receiver does. */
export const isSigned = ({ headers, body }: Received, secret: string): boolean =>
  headers['x-service-signature'] ===
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

let users = 0;
/** The event that identity publishes for a new account. */
export function userCreated(
  tenantId: string,
  more: { readonly id?: string; readonly display_name?: string } = {},
) {
  users += 1;
  const id = more.id ?? `user-${users}`;
  return {
    source: 'identity',
    type: 'user.created',
    tenantId,
    streamId: `user-${id}`,
    data: {
      id,
      email: `${id}@example.com`,
      display_name: more.display_name ?? 'Zoë Müller',
      email_verified: false,
      roles: ['member'],
      status: 'active',
      created_at: '2030-01-01T00:00:00.000Z',
      via: 'register',
    },
  } as const;
}

export type Published = {
  readonly type: string;
  readonly tenantId: string;
  readonly actor: { readonly type: string; readonly id: string };
  readonly data: { readonly [field: string]: unknown };
};

/** Events of one tenant on the topic of webhooks, by type. */
export async function publishedOf(
  fixture: ServiceFixture,
  tenantId: string,
): Promise<readonly Published[]> {
  const { rows } = await fixture.shared.database.system.query<{ value: Published }>(
    `SELECT value FROM bus.records WHERE topic = 'cardea.webhooks.events.v1' ORDER BY published_at`,
  );
  return rows.map(({ value }) => value).filter((event) => event.tenantId === tenantId);
}
