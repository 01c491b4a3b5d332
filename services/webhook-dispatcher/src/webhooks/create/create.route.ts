import { endpoint } from '@cardea/http';
import { alreadyCreated, newId, requestHash } from '@cardea/service';
import Type from 'typebox';
import { issueSecret } from '../../adapters/signing.ts';
import { beginsAfterNow } from '../begins-after.ts';
import { locationOf, webhooks } from '../webhook.ts';
import {
  descriptionField,
  eventsField,
  invalidUrl,
  readEvents,
  readUrl,
  unknownEvent,
  urlField,
} from '../webhook-shape.ts';
import { WEBHOOKS_TABLE } from '../webhooks.projection.ts';
import { settle, type WriteDependencies } from '../writing.ts';
import { createWebhook, repeatOf } from './create.ts';

const WEBHOOKS_PER_TENANT_MAX = 500;
const INDEX_WAIT_MS = 2_000;

const createdWebhook = Type.Object({
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  secret: Type.String(),
});

export const createWebhookRoute = (needs: WriteDependencies) =>
  endpoint(
    {
      tag: 'Webhooks',
      who: ['admin'],
      machine: 'webhooks:write',
      name: 'create_webhook',
      access: { class: 'settings', stepUp: 'applications' },
      summary: 'Register a webhook; its secret is shown here and never again',
      description:
        'Registers an address to which the named events are sent as signed `POST` requests, from now on. The answer shows the secret that signs them; no later call shows it again. The address must be `https` and public, unless the deployment allows more. A tenant has at most 500 webhooks.',
      method: 'post',
      path: '/api/v1/webhooks',
      body: Type.Object({
        url: urlField,
        events: eventsField,
        description: Type.Optional(descriptionField),
      }),
      ok: createdWebhook,
      response: { status: 201, isSecret: true },
      refusals: {
        invalid_url: 400,
        unknown_event: 400,
        too_many_webhooks: 409,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      repeat: 'by_key',
      consistency: { waitsFor: [WEBHOOKS_TABLE] },
    },
    async (request) => {
      const { body, tenantId } = request;
      const { store, index, sealer } = needs;
      const judged = readUrl(body.url, needs.settings);
      if ('rule' in judged) return invalidUrl(judged.rule);
      const events = readEvents(body.events);
      if (events === undefined) return unknownEvent(body.events);
      await index.reached(await store.head(store.log), INDEX_WAIT_MS);
      if (index.countOf(tenantId) >= WEBHOOKS_PER_TENANT_MAX) {
        return { refused: 'too_many_webhooks' as const };
      }

      const command = await needs.command(request);
      const id = newId(needs, request, 'webhook');
      const { secret, keys } = issueSecret(needs.random);
      const seal = (field: 'url' | 'keys', text: string) =>
        sealer.seal(tenantId, locationOf(id, field), text);
      const [sealedUrl, sealedKeys, ownHash, beginsAfter] = await Promise.all([
        seal('url', body.url),
        seal('keys', keys),
        requestHash(needs, request, []),
        beginsAfterNow(needs),
      ]);
      // The webhook that this idempotency key created was deleted, and its key was erased.
      if (sealedUrl === 'erased' || sealedKeys === 'erased') {
        return alreadyCreated(id);
      }
      const decided = await needs.streams.decideOn(webhooks, id, command, (webhook) =>
        createWebhook(webhook, {
          url: sealedUrl,
          origin: judged.origin,
          events,
          description: body.description ?? null,
          app_id: request.appId ?? null,
          keys: sealedKeys,
          created_at: command.now.toISOString(),
          begins_after: beginsAfter,
          request_hash: ownHash,
        }),
      );
      if (!decided.accepted || decided.repeated) {
        const reason = repeatOf(decided.state, ownHash);
        return reason === 'already_created' ? alreadyCreated(id) : { refused: reason };
      }
      await settle(index, decided.position);
      return { ok: { id, url: body.url, events: [...events], secret }, wrote: decided.position };
    },
  );
