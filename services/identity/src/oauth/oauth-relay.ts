/** What other services receive about resource servers. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { ResourceServerEvent } from './resource-servers/resource-server.ts';

export const oauthRelay = relay<ResourceServerEvent, typeof identityEvents>({
  ResourceServerCreated: ({ data: { id, identifier, name, scopes, created_at } }) => ({
    type: 'resource_server.created',
    data: { id, identifier, name, scopes: scopes.map((scope) => scope.name), created_at },
  }),
  ResourceServerDeleted: ({ data: { id, identifier, deleted_at } }) => ({
    type: 'resource_server.deleted',
    data: { id, identifier, deleted_at },
  }),
});
