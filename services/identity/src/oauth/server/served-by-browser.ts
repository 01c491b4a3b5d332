/**
 * Records which browser sign-in serves an application without its own session, so that the application is notified when
 * the sign-in ends.
 */
import type { Message } from '../../adapters/authorization-ports.ts';
import type { ApplicationSessions } from './application-sessions.ts';
import type { OAuthClients } from './clients.ts';
import type { IdTokenOf } from './oauth-tokens.ts';
import { requestOf } from './requests.ts';

type Dependencies = {
  readonly applicationSessions: Pick<ApplicationSessions, 'serve'>;
  readonly clients: Pick<OAuthClients, 'find'>;
};

/** `issued` is the data of the id_token. Undefined for a token without a user. */
export async function serveByBrowser(
  { applicationSessions, clients }: Dependencies,
  message: Message,
  issued: Pick<IdTokenOf, 'clientId' | 'sid' | 'tenantId' | 'user'> | undefined,
): Promise<void> {
  if (issued === undefined) return;
  const { clientId, tenantId, sid: browserSid, user } = issued;
  const client = await clients.find(clientId);
  if ((client?.application.backchannel_logout_uri ?? null) === null) return;
  const of = { clientId, tenantId, browserSid, userId: user.id };
  const isServed = await applicationSessions.serve(requestOf(message), of);
  if (!isServed) throw new Error('the sign-in has ended since');
}
