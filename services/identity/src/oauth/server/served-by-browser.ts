/** Without a session of its own, an application is notified of the end of the sign-in in the browser. */
import type { Message } from '../../adapters/authorization-ports.ts';
import type { ApplicationSessions } from './application-sessions.ts';
import type { OAuthClients } from './clients.ts';
import type { IdTokenOf } from './oauth-tokens.ts';
import { requestOf } from './requests.ts';

type Dependencies = {
  readonly applicationSessions: Pick<ApplicationSessions, 'serve'>;
  readonly clients: Pick<OAuthClients, 'find'>;
};

/** `issued`: what its id_token is made of; undefined where no user is. */
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
