/** Publishes the facts about API keys that other services receive. */
import type { identityEvents } from '@cardea/contracts';
import { type RelayTools, relay } from '@cardea/event-bus';
import { type ApiKeyEvent, apiKeys } from './api-keys/api-key.ts';
import type { KeyUsed } from './key-uses/key-use.ts';

export const credentialsRelay = relay<ApiKeyEvent | KeyUsed, typeof identityEvents>({
  ApiKeyIssued: async (_event, tools) => ({
    type: 'api_key.created',
    data: (await apiKeyOf(tools)).key,
  }),
  ApiKeyRotated: async (_event, tools) => {
    const { key, previousUntil } = await apiKeyOf(tools);
    return { type: 'api_key.rotated', data: { ...key, previous_until: previousUntil } };
  },
  ApiKeyRevoked: ({ data }) => ({
    type: 'api_key.revoked',
    data: { id: data.id, revoked_at: data.revoked_at },
  }),
});

async function apiKeyOf(tools: RelayTools) {
  const state = await tools.stateOf(apiKeys);
  if (state.status === 'none') throw new Error('an event of an API key without the key');
  const { key, secret } = state;
  return { key: { ...key, scopes: [...key.scopes] }, previousUntil: secret.previousUntil };
}
