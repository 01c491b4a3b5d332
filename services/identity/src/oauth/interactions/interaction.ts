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
  /** The result of the previous page. */
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
  /** The account has no second factor yet and must enrol one. */
  readonly isEnrolment: boolean;
  /** The key of an authenticator app that is being set up. */
  readonly totp?: { readonly challengeId: string; readonly secret: string; readonly url: string };
};

export type Mailed = {
  readonly method: 'otp' | 'magic_link';
  readonly email: string;
  readonly challengeId: string;
};

/** The progress of a sign-in that takes several pages. */
export type Progress =
  | { readonly step: 'begun' }
  | ({ readonly step: 'second_factor' } & PendingSecondFactor)
  | ({ readonly step: 'mailed' } & Mailed)
  | { readonly step: 'password_forgotten' }
  /** A link to set a new password was mailed, if the address has an account. */
  | { readonly step: 'reset_mailed'; readonly email: string }
  /** The person is registering an account. */
  | { readonly step: 'registering' }
  /** The mail that proves the address was sent, if the address was not taken. */
  | ({ readonly step: 'registered' } & PendingRegistration)
  /** The signed-in person wants to use another account. */
  | { readonly step: 'restarted' }
  /** Another tab of the browser has signed in another account, or has signed out. */
  | { readonly step: 'replaced' };

export type Interaction = {
  readonly stored: Stored;
  readonly client: OAuthClient;
  /** Undefined for a device flow. */
  readonly redirectUri: string | undefined;
  /** The user code in the form that the device shows. */
  readonly userCode?: string | undefined;
  readonly resource: string;
  /** Scopes that the page asks for, by resource. */
  readonly missing: { readonly [resource: string]: readonly string[] };
  /** Claims of the application that the page asks for, as they were when the page was rendered. */
  readonly claims: readonly ShownClaim[];
  readonly progress: Progress;
};

/**
 * The key of the progress in the library's stored result. The library's artifacts are encrypted, so the progress is,
 * too.
 */
const PROGRESS = 'progress';

type Dependencies = {
  readonly server: RunningServer;
  readonly clients: Pick<OAuthClients, 'findFor'>;
  readonly resources: Pick<KnownResources, 'builtIn'>;
};

/** Prompts that need no signed-in person. */
const WITHOUT_SESSION: ReadonlySet<string> = new Set(['login', 'create']);

/** Returns undefined if the cookie names no interaction, another interaction, or an expired one. */
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

/** Finds an interaction by its id, for a link that is opened in another browser. Returns undefined if there is none. */
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
 * The result of a consent page, with the sign-in or the account choice of the same flow. Without these, the library
 * would repeat what `prompt` or `max_age=0` demanded.
 */
export const consented = ({ stored: { lastSubmission, session } }: Interaction): Result => {
  const { login, select_account } = lastSubmission ?? {};
  const isSame = login !== undefined && login.accountId === session?.accountId;
  const chosen = select_account === undefined ? {} : { select_account };
  return { ...(isSame ? { login } : {}), ...chosen, consent: {} };
};

/** Stores the result of the interaction and returns the address at which the browser continues. */
export async function finish({ stored }: Interaction, result: Result): Promise<string> {
  stored.result = result;
  await stored.save(Math.max(1, stored.exp - now()));
  return (stored as unknown as { returnTo: string }).returnTo;
}

const KIB = 1_024;
const HOUR_S = 3_600;

/**
 * Keeps a flow that waits for a mail for as long as the mail's secret works, plus time to finish. Such flows have a
 * budget of bytes and time; a flow beyond the budget keeps its ordinary lifetime. Returns the cookies to set.
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
  // A device stops polling before the mail's secret expires, so its flow is not kept longer.
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

/** Stores the progress until the same browser's next page. */
export async function keepProgress({ stored }: Interaction, progress: Progress): Promise<void> {
  stored.result = { [PROGRESS]: progress };
  await stored.save(Math.max(1, stored.exp - now()));
}
