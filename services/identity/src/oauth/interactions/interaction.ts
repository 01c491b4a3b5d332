/** A sign-in or a decision that the authorization server waits for, named by a cookie of the browser. */
import type { KnownResources } from '../resource-servers/known-resources.ts';
import type { OAuthClient, OAuthClients } from '../server/clients.ts';
import type { RunningServer } from '../server/running-server.ts';

type Stored = {
  readonly uid: string;
  readonly prompt: { readonly name: string; readonly details: Details };
  readonly params: { readonly [name: string]: unknown };
  session?: { readonly accountId: string; readonly uid?: string } | undefined;
  result?: { readonly [name: string]: unknown } | undefined;
  readonly exp: number;
  readonly save: (ttl: number) => Promise<unknown>;
};
type Details = {
  readonly missingOIDCScope?: readonly string[];
  readonly missingResourceScopes?: { readonly [resource: string]: readonly string[] };
};

export type PendingSecondFactor = { readonly token: string; readonly methods: readonly string[] };

export type Interaction = {
  readonly stored: Stored;
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly resource: string;
  /** Scopes that are asked for now, by resource. */
  readonly missing: { readonly [resource: string]: readonly string[] };
  readonly secondFactor: PendingSecondFactor | undefined;
};

type Dependencies = {
  readonly server: RunningServer;
  readonly clients: Pick<OAuthClients, 'find'>;
  readonly resources: Pick<KnownResources, 'builtIn'>;
};

/** Undefined where the cookie names none, another one, or one that has lapsed. */
export async function findInteraction(
  { server, clients, resources }: Dependencies,
  uid: string,
  cookie: string | undefined,
): Promise<Interaction | undefined> {
  const found = await server().interaction(cookie);
  const stored = found as Stored | undefined;
  if (stored === undefined || stored.uid !== uid) return undefined;
  const { params, prompt, result } = stored;
  const client = await clients.find(String(params['client_id']));
  if (client === undefined) return undefined;
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
  const mfa = result?.['mfa'] as PendingSecondFactor | undefined;
  return {
    stored,
    client,
    redirectUri: String(params['redirect_uri']),
    resource: String(params['resource'] ?? resources.builtIn),
    missing: { '': missingOIDCScope, ...missingResourceScopes },
    secondFactor: mfa,
  };
}

const now = () => Math.floor(Date.now() / 1000);

/** Where the browser goes on, once something came of it. */
export async function finish(
  { server }: Pick<Dependencies, 'server'>,
  { stored }: Interaction,
  result: object,
): Promise<string> {
  const login = (result as { login?: { accountId: string } }).login;
  const { session } = stored;
  if (login !== undefined && session !== undefined && session.accountId !== login.accountId) {
    // Somebody else has signed in: what the browser had before is over.
    if (session.uid !== undefined) await server().endBrowserSession(session.uid);
    stored.session = undefined;
  }
  stored.result = result as { [name: string]: unknown };
  await stored.save(Math.max(1, stored.exp - now()));
  return (stored as unknown as { returnTo: string }).returnTo;
}

/** The first factor was right, and the second one is due. */
export async function keepSecondFactor(
  { stored }: Interaction,
  mfa: PendingSecondFactor,
): Promise<void> {
  stored.result = { mfa };
  await stored.save(Math.max(1, stored.exp - now()));
}
