import { endpoint } from '@cardea/http';
import { isUuid } from '@cardea/runtime';
import Type from 'typebox';
import { issueSecret } from '../../adapters/signing.ts';
import { locationOf, seenBy, webhooks } from '../webhook.ts';
import { idParams, notFound } from '../webhook-shape.ts';
import { WEBHOOKS_TABLE } from '../webhooks.projection.ts';
import { settle, type WriteDependencies } from '../writing.ts';
import { rotateSecret } from './rotate-secret.ts';

export const rotateSecretRoute = (needs: WriteDependencies) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      name: 'rotate_webhook_secret',
      machine: 'webhooks:write',
      access: { class: 'settings', stepUp: 'applications' },
      repeat: 'never',
      summary: 'Give a webhook a new secret; the old one signs nothing any more',
      description:
        'Replaces the secret that signs the deliveries, and shows the new one this once. The old one signs nothing any more, so the receiver has to know the new one at once.',
      method: 'post',
      path: '/api/v1/webhooks/{id}/rotate-secret',
      params: idParams,
      body: Type.Object({}),
      input: { isOptional: true },
      ok: Type.Object({ secret: Type.String() }),
      response: { isSecret: true },
      refusals: { webhook_not_found: 404 },
      consistency: { waitsFor: [WEBHOOKS_TABLE] },
    },
    async (request) => {
      const { tenantId, appId, params } = request;
      const { id } = params;
      if (!isUuid(id)) return notFound(id);
      const { state } = await needs.streams.load(webhooks, { tenantId, id });
      if (seenBy(state, appId) === undefined) return notFound(id);
      const { secret, keys } = issueSecret(needs.random);
      const command = await needs.command(request);
      const sealed = await needs.sealer.seal(tenantId, locationOf(id, 'keys'), keys);
      if (sealed === 'erased') return notFound(id);
      const decided = await needs.streams.decideOn(webhooks, id, command, (webhook) =>
        rotateSecret(webhook, sealed, appId),
      );
      if (!decided.accepted) return notFound(id);
      await settle(needs.index, decided.position);
      return { ok: { secret }, wrote: decided.position };
    },
  );
