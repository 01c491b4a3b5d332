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

export type PendingSecondFactor = {
  readonly token: string;
  readonly methods: readonly string[];
  /** The account has none yet and has to have one. */
  readonly isEnrolment: boolean;
  /** The key of an authenticator app that is being set up. */
  readonly totp?: { readonly challengeId: string; readonly secret: string; readonly url: string };
};

export type Mailed = {
  readonly method: 'otp' | 'magic_link';
  readonly email: string;
  readonly challengeId: string;
};

/** How far a sign-in has come that takes several pages. */
export type Progress =
  | { readonly step: 'begun' }
  | ({ readonly step: 'second_factor' } & PendingSecondFactor)
  | ({ readonly step: 'mailed' } & Mailed)
  /** Whoever is signed in wants to be somebody else. */
  | { readonly step: 'restarted' };

export type Interaction = {
  readonly stored: Stored;
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly resource: string;
  /** Scopes that are asked for now, by resource. */
  readonly missing: { readonly [resource: string]: readonly string[] };
  readonly progress: Progress;
};

/** Beside the results that the library knows; it is encrypted as all of its artifacts. */
const PROGRESS = 'progress';

type Dependencies = {
  readonly server: RunningServer;
  readonly clients: Pick<OAuthClients, 'findFor'>;
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
  const clientId = String(params['client_id']);
  const resource = String(params['resource'] ?? resources.builtIn);
  const client = await clients.findFor({ clientId, resource });
  if (client === undefined) return undefined;
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details;
  return {
    stored,
    client,
    redirectUri: String(params['redirect_uri']),
    resource,
    missing: { '': missingOIDCScope, ...missingResourceScopes },
    progress: (result?.[PROGRESS] as Progress | undefined) ?? { step: 'begun' },
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

/** Until the next page of the same browser. */
export async function keepProgress({ stored }: Interaction, progress: Progress): Promise<void> {
  stored.result = { [PROGRESS]: progress };
  await stored.save(Math.max(1, stored.exp - now()));
}
