/** What other services hear of API keys. */
import {
  integrationEvent,
  type RelayTools,
  relayOf,
  stateAt,
} from '../streams/integration-events.ts';
import { type ApiKeyEvent, apiKeys } from './api-keys/api-key.ts';

export const credentialsRelay = relayOf<ApiKeyEvent>({
  ApiKeyIssued: async (_event, tools) =>
    integrationEvent('api_key.created', (await apiKeyOf(tools)).key),
  ApiKeyRotated: async (_event, tools) => {
    const { key, previousUntil } = await apiKeyOf(tools);
    return integrationEvent('api_key.rotated', { ...key, previous_until: previousUntil });
  },
  ApiKeyRevoked: ({ data }) =>
    integrationEvent('api_key.revoked', { id: data.id, revoked_at: data.revoked_at }),
});

async function apiKeyOf(tools: RelayTools) {
  const state = await stateAt(apiKeys, tools);
  if (state.status === 'none') throw new Error('an event of an API key without the key');
  const { key, secret } = state;
  return { key: { ...key, scopes: [...key.scopes] }, previousUntil: secret.previousUntil };
}
