/** Requests to the endpoints of webhooks; their receiver is on loopback. */
import { untilTrue } from '@cardea/testing';
import type { Fortress } from '../fortress.ts';
import type { Ask, Samples } from '../sample.ts';
import { expectStatus } from '../users.ts';

const WEBHOOKS = '/api/v1/webhooks';
const webhookTo = (url: string) => ({ url, events: ['user.deleted'] });
const adminOf = ({ rest, a }: Fortress) => rest.as({ bearer: a.owner.access, tenant: a.tenantId });

async function someWebhook(world: Fortress): Promise<Ask> {
  const made = await adminOf(world).post(WEBHOOKS, webhookTo(world.receiver.url));
  expectStatus(made, 201);
  return { params: { id: made.body.id } };
}

async function someDelivery(world: Fortress): Promise<Ask> {
  const { params } = await someWebhook(world);
  const admin = adminOf(world);
  const webhook_id = params?.['id'] ?? '';
  expectStatus(await admin.post(`${WEBHOOKS}/${webhook_id}/test`), 202);
  // A delivery of this webhook, because the newest of all may belong to one that was deleted since.
  const delivery = await untilTrue(
    async () =>
      (await admin.get(`${WEBHOOKS}/deliveries`, { query: { webhook_id } })).body.deliveries[0],
    { what: 'the attempt is listed' },
  );
  return { params: { id: delivery.id } };
}

const onSome = { by: 'admin', ask: someWebhook } as const;

export const webhookSamples: Samples = {
  list_webhooks: { by: 'admin', ask: () => ({}) },
  create_webhook: { by: 'admin', ask: ({ receiver }) => ({ body: webhookTo(receiver.url) }) },
  get_webhook: onSome,
  change_webhook: {
    by: 'admin',
    ask: async (world) => ({ ...(await someWebhook(world)), body: { enabled: false } }),
  },
  delete_webhook: onSome,
  rotate_webhook_secret: onSome,
  test_webhook: onSome,
  list_webhook_deliveries: { by: 'admin', ask: () => ({}) },
  // `docs/contract.md` 4.4 answers an unknown delivery with this status.
  retry_webhook_delivery: { by: 'admin', ask: someDelivery, unknown: 422 },
  list_webhook_event_types: { by: 'admin', ask: () => ({}) },
};
