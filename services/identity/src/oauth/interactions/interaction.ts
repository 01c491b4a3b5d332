/** A sign-in or a decision that the authorization server waits for, named by a cookie of the browser. */
import type { MailPurpose } from '@cardea/contracts';
import type { ServiceDependencies } from '@cardea/service';
import { INTERACTION_SECONDS } from '../../adapters/authorization-config.ts';
import type { ShownClaim } from '../../adapters/authorization-ports.ts';
import type { PendingRegistration } from '../../authentication/authentication.module.ts';
import { LIMITS } from '../../http/limits.ts';
import { SECRET_TTL_MS } from '../../mail/mail.module.ts';
import type { KnownResources } from '../resource-servers/known-resources.ts';
import type { OAuthClient, OAuthClients } from '../server/clients.ts';
import type { RunningServer } from '../server/running-server.ts';

type Stored = {
  readonly uid: string;
  readonly prompt: {
    readonly name: string;
    readonly reasons: readonly string[];
    readonly details: Details;
  };
  readonly params: { readonly [name: string]: unknown };
  session?: { readonly accountId: string; readonly uid?: string } | undefined;
  result?: { readonly [name: string]: unknown } | undefined;
  /** What came of the page before this one. */
  readonly lastSubmission?:
    | { readonly login?: { readonly accountId: string }; readonly select_account?: object }
    | undefined;
  readonly exp: number;
  readonly save: (ttl: number) => Promise<unknown>;
};
type Details = {
  readonly missingOIDCScope?: readonly string[];
  readonly missingResourceScopes?: { readonly [resource: string]: readonly string[] };
  readonly missingClaims?: readonly ShownClaim[];
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
  | { readonly step: 'password_forgotten' }
  /** A link to set a new password is on its way, if the address has an account. */
  | { readonly step: 'reset_mailed'; readonly email: string }
  /** Somebody wants an account. */
  | { readonly step: 'registering' }
  /** The mail that proves the address is on its way, if the address was free. */
  | ({ readonly step: 'registered' } & PendingRegistration)
  /** Whoever is signed in wants to be somebody else. */
  | { readonly step: 'restarted' }
  /** Another tab of the browser has signed in somebody else, or has signed out. */
  | { readonly step: 'replaced' };

export type Interaction = {
  readonly stored: Stored;
  readonly client: OAuthClient;
  /** Undefined where a device waits for the answer. */
  readonly redirectUri: string | undefined;
  /** As that device shows it. */
  readonly userCode?: string | undefined;
  readonly resource: string;
  /** Scopes that are asked for now, by resource. */
  readonly missing: { readonly [resource: string]: readonly string[] };
  /** Claims of the application's own that are asked for now, as they were when the page was made. */
  readonly claims: readonly ShownClaim[];
  readonly progress: Progress;
};

/** Beside the results that the library knows; it is encrypted as all of its artifacts. */
const PROGRESS = 'progress';

type Dependencies = {
  readonly server: RunningServer;
  readonly clients: Pick<OAuthClients, 'findFor'>;
  readonly resources: Pick<KnownResources, 'builtIn'>;
};

/** Prompts that ask nobody in particular. */
const WITHOUT_SESSION: ReadonlySet<string> = new Set(['login', 'create']);

/** Undefined where the cookie names none, another one, or one that has lapsed. */
export async function findInteraction(
  { server, clients, resources }: Dependencies,
  uid: string,
  cookie: string | undefined,
): Promise<Interaction | undefined> {
  const found = await server().interaction(cookie);
  const stored = found?.stored as Stored | undefined;
  if (stored === undefined || stored.uid !== uid) return undefined;
  const before = stored.session;
  const isSame = before?.accountId === found?.browser?.accountId;
  stored.session = isSame ? found?.browser : undefined;
  const { params, prompt, result } = stored;
  const clientId = String(params['client_id']);
  const resource = String(params['resource'] ?? resources.builtIn);
  const client = await clients.findFor({ clientId, resource });
  if (client === undefined) return undefined;
  const isLost = !WITHOUT_SESSION.has(prompt.name) && stored.session === undefined;
  const { missingOIDCScope = [], missingResourceScopes = {}, missingClaims = [] } = prompt.details;
  return {
    stored,
    client,
    redirectUri: found?.userCode === undefined ? String(params['redirect_uri']) : undefined,
    userCode: found?.userCode,
    resource,
    missing: { '': missingOIDCScope, ...missingResourceScopes },
    claims: missingClaims,
    progress: (result?.[PROGRESS] as Progress | undefined) ?? {
      step: isLost ? 'replaced' : 'begun',
    },
  };
}

/** What waits under an id, for whoever opens its link in another browser; undefined where nothing does. */
export async function findOpenInteraction(
  { server, clients, resources }: Pick<Dependencies, 'clients' | 'resources' | 'server'>,
  uid: string,
): Promise<Pick<Interaction, 'client' | 'progress' | 'redirectUri'> | undefined> {
  const stored = (await server().openInteraction(uid)) as Stored | undefined;
  if (stored === undefined) return undefined;
  const { params, result } = stored;
  const clientId = String(params['client_id']);
  const resource = String(params['resource'] ?? resources.builtIn);
  const client = await clients.findFor({ clientId, resource });
  if (client === undefined) return undefined;
  const redirectUri =
    params['redirect_uri'] === undefined ? undefined : String(params['redirect_uri']);
  const progress = (result?.[PROGRESS] as Progress | undefined) ?? { step: 'begun' };
  return { client, progress, redirectUri };
}

const now = () => Math.floor(Date.now() / 1000);

type Result = { readonly [name: string]: unknown };

/**
 * What came of a consent, with the sign-in or the choice of the same flow: without that the library would ask again for
 * what `prompt` or `max_age=0` demanded.
 */
export const consented = ({ stored: { lastSubmission, session } }: Interaction): Result => {
  const { login, select_account } = lastSubmission ?? {};
  const isSame = login !== undefined && login.accountId === session?.accountId;
  const chosen = select_account === undefined ? {} : { select_account };
  return { ...(isSame ? { login } : {}), ...chosen, consent: {} };
};

/** Where the browser goes on, once something came of it. */
export async function finish({ stored }: Interaction, result: Result): Promise<string> {
  stored.result = result;
  await stored.save(Math.max(1, stored.exp - now()));
  return (stored as unknown as { returnTo: string }).returnTo;
}

const KIB = 1_024;
const HOUR_S = 3_600;

/**
 * The flow waits for a mail: it is kept as long as the mail's secret works, and a while longer to finish. Kept flows
 * have a budget of bytes and time; beyond it a flow is kept as long as any other. Returns the cookies of the browser.
 */
export async function waitForMail(
  { server, limits }: Pick<Dependencies, 'server'> & Pick<ServiceDependencies, 'limits'>,
  { stored, client, userCode }: Interaction,
  of: { readonly progress: Progress; readonly purpose: MailPurpose; readonly ip: string },
): Promise<readonly string[]> {
  stored.result = { [PROGRESS]: of.progress };
  const left = Math.max(1, stored.exp - now());
  const seconds = SECRET_TTL_MS[of.purpose] / 1_000 + INTERACTION_SECONDS;
  const kib = Buffer.byteLength(JSON.stringify(stored)) / KIB;
  const size = Math.ceil((kib * Math.max(0, seconds - left)) / HOUR_S);
  // A device has given up before a mail has.
  const isKept =
    userCode === undefined &&
    seconds > left &&
    (
      await limits.take(
        [LIMITS.keptFlowKibHoursByIp, of.ip, size],
        [LIMITS.keptFlowKibHoursByTenant, client.tenantId, size],
      )
    ).allowed;
  if (isKept) return server().keep(stored, seconds);
  await stored.save(left);
  return [];
}

/** Until the next page of the same browser. */
export async function keepProgress({ stored }: Interaction, progress: Progress): Promise<void> {
  stored.result = { [PROGRESS]: progress };
  await stored.save(Math.max(1, stored.exp - now()));
}
