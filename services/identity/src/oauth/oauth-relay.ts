/** Publishes the facts of resource servers and failed client authentications that other services receive. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { ClientFailureEvent } from './client-failures/client-failure.ts';
import type { LogoutNoticeEvent } from './logout-notices/logout-notice.ts';
import type { ResourceServerEvent } from './resource-servers/resource-server.ts';

export const oauthRelay = relay<
  ResourceServerEvent | ClientFailureEvent | LogoutNoticeEvent,
  typeof identityEvents
>({
  ResourceServerCreated: ({ data: { id, identifier, name, scopes, created_at } }) => ({
    type: 'resource_server.created',
    data: { id, identifier, name, scopes: scopes.map((scope) => scope.name), created_at },
  }),
  ClientAuthFailed: ({ data: { client_id, reason } }) => ({
    type: 'oauth.client_auth_failed',
    data: { client_id, reason },
  }),
  LogoutNoticeFailed: ({ data: { client_id, user_id, session_id, attempts, cause } }) => ({
    type: 'oauth.logout_notice_failed',
    data: { client_id, user_id, session_id, attempts, cause },
  }),
  ResourceServerDeleted: ({ data: { id, identifier, deleted_at } }) => ({
    type: 'resource_server.deleted',
    data: { id, identifier, deleted_at },
  }),
});
