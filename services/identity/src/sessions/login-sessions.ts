/**
 * Issues access tokens (`docs/design/tokens.md`, Token classes), and starts sessions with a refresh token. The log
 * stores the salt of a refresh token, never a token.
 */
import { type LoginClaims, type SignToken, TOKEN_CLASSES } from '@cardea/auth';
import { type DerivedKeys, issueRefreshToken, type Sealer } from '@cardea/crypto';
import { accept, type Command, type Streams } from '@cardea/event-store';
import type { Ids, Random, Settings } from '@cardea/runtime';
import type { ExistingUser, UserDirectory } from '../accounts/accounts.module.ts';
import { sessionField } from '../streams/encrypted-fields.ts';
import type { TenantFacts } from '../workspaces/workspaces.module.ts';
import { factsOf, type SessionFacts, type SessionOrigin, sessions } from './session.ts';

const SALT_BYTES = 16;
/** How many characters of a User-Agent header are stored. */
export const USER_AGENT_CHARACTERS_MAX = 512;

export type StartSession = {
  readonly sid: string;
  readonly user: ExistingUser;
  /** A moment before `user` was read. */
  readonly readAt: Date;
  readonly tenant: TenantFacts;
  readonly via: SessionOrigin;
  readonly method: string;
  readonly amr: readonly string[];
  readonly ip: string;
  readonly userAgent: string;
  readonly appId: string | null;
};

/** A session of another kind than a login's, and what it depends on. */
export type OtherSession =
  | { readonly kind: 'browser' }
  | ({ readonly kind: 'oauth'; readonly authTime: number; readonly userEpoch: number } & Pick<
      SessionFacts,
      'client_id' | 'consent_id' | 'consent_epoch' | 'jkt' | 'resource' | 'scope'
    > & { readonly browser_sid: string | null });

export type Tokens = {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
};

type Started = { readonly session: SessionFacts; readonly position: bigint | undefined };

export type LoginSessions = {
  /** Starts a session without tokens: of the hosted pages, or of an application. */
  readonly startOther: (
    of: StartSession & { readonly other: OtherSession },
    command: Command,
  ) => Promise<Started | 'erased'>;
  /** The current refresh token of a session. */
  readonly refreshTokenOf: (session: SessionFacts) => string;
  /** Returns `erased` if the user was deleted in the meantime, so nothing can be encrypted for them any more. */
  readonly start: (
    of: StartSession,
    command: Command,
  ) => Promise<{ readonly tokens: Tokens; readonly position: bigint | undefined } | 'erased'>;
  /** Both tokens of a session in its current state. */
  readonly tokensOf: (
    session: SessionFacts,
    of: Pick<StartSession, 'user' | 'readAt' | 'tenant'>,
  ) => Promise<Tokens>;
};

type Dependencies = {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly userDirectory: UserDirectory;
  readonly accessTokens: AccessTokens;
  readonly random: Random;
  readonly refreshKeys: DerivedKeys;
  readonly settings: Pick<Settings, 'REFRESH_TOKEN_EXPIRY'>;
};

export function loginSessions(needs: Dependencies): LoginSessions {
  const { streams, userDirectory, accessTokens, refreshKeys } = needs;

  const refreshTokenOf: LoginSessions['refreshTokenOf'] = ({ salt, id: sid, seq }) =>
    issueRefreshToken(refreshKeys.current, { salt, sid, seq });

  const tokensOf: LoginSessions['tokensOf'] = async (session, { user, readAt, tenant }) => {
    const access = accessTokens.issue({
      user,
      readAt,
      email: await userDirectory.emailOf(user),
      tenant,
      sid: session.id,
      authTime: session.auth_time,
      amr: session.amr,
      appId: session.app_id,
    });
    return {
      access_token: access.token,
      refresh_token: refreshTokenOf(session),
      expires_in: access.expiresIn,
    };
  };

  const started = async (
    of: StartSession,
    command: Command,
    other?: OtherSession,
  ): Promise<Started | 'erased'> => {
    const facts = await freshFacts(needs, of, command, other);
    const user = await needs.sealer.seal(
      of.tenant.id,
      sessionField(of.user.id, of.sid, 'user'),
      JSON.stringify(await userDirectory.snapshot(of.user)),
    );
    if (facts === 'erased' || user === 'erased') return 'erased';
    const data = { ...facts, via: of.via, method: of.method, user };
    const decided = await streams.decideOn(sessions, of.sid, command, {
      isNew: true,
      decide: () => accept({ type: 'SessionStarted', data }),
    });
    // A repeated command finds the session that the first one started, with its salt.
    const session = decided.state.status === 'known' ? factsOf(decided.state) : facts;
    return { session, position: decided.position };
  };

  return {
    tokensOf,
    refreshTokenOf,
    startOther: ({ other, ...of }, command) => started(of, command, other),
    start: async (of, command) => {
      const made = await started(of, command);
      if (made === 'erased') return made;
      return { tokens: await tokensOf(made.session, of), position: made.position };
    },
  };
}

async function freshFacts(
  { sealer, random, settings }: Dependencies,
  of: StartSession,
  { now }: Command,
  other: OtherSession | undefined,
): Promise<SessionFacts | 'erased'> {
  const seal = (field: 'ip' | 'user_agent', text: string) =>
    sealer.seal(of.tenant.id, sessionField(of.user.id, of.sid, field), text);
  const [ip, userAgent] = await Promise.all([
    seal('ip', of.ip),
    seal('user_agent', of.userAgent.slice(0, USER_AGENT_CHARACTERS_MAX)),
  ]);
  if (ip === 'erased' || userAgent === 'erased') return 'erased';
  const at = now.toISOString();
  const { absolute_ttl, browser_ttl_seconds } = of.tenant.settings.session;
  const isBrowser = other?.kind === 'browser';
  const ends = now.getTime() + (isBrowser ? browser_ttl_seconds : absolute_ttl) * 1000;
  const sliding = now.getTime() + settings.REFRESH_TOKEN_EXPIRY * 1000;
  const expires = isBrowser ? ends : Math.min(ends, sliding);
  const oauth = other?.kind === 'oauth' ? other : undefined;
  return {
    id: of.sid,
    user_id: of.user.id,
    user_epoch: oauth?.userEpoch ?? of.user.epoch,
    kind: other?.kind ?? 'login',
    client_id: oauth?.client_id ?? null,
    consent_id: oauth?.consent_id ?? null,
    consent_epoch: oauth?.consent_epoch ?? null,
    scope: oauth?.scope ?? null,
    resource: oauth?.resource ?? null,
    ...(oauth === undefined ? {} : { browser_sid: oauth.browser_sid }),
    ...(oauth?.jkt === undefined ? {} : { jkt: oauth.jkt }),
    salt: random.bytes(SALT_BYTES).toString('base64url'),
    seq: 0,
    rotated_at: at,
    auth_time: oauth?.authTime ?? Math.floor(now.getTime() / 1000),
    amr: of.amr,
    app_id: of.appId,
    ip,
    user_agent: userAgent,
    started_at: at,
    last_active_at: at,
    expires_at: new Date(expires).toISOString(),
    ends_at: new Date(ends).toISOString(),
    revoked_at: null,
    reason: null,
  };
}

export type AccessTokenOf = {
  readonly user: ExistingUser;
  /**
   * A moment before the user's stream was read. It becomes the token's `iat`, so that a change of rank which the read
   * missed revokes the token.
   */
  readonly readAt: Date;
  /** Null if the address was erased. */
  readonly email: string | null;
  readonly tenant: TenantFacts;
  /** Null for sign-ins that create no session. */
  readonly sid: string | null;
  /** Unix seconds. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly appId: string | null;
};

export type AccessTokens = {
  readonly issue: (of: AccessTokenOf) => { readonly token: string; readonly expiresIn: number };
};

export function accessTokens(needs: {
  readonly settings: Pick<Settings, 'ISSUER' | 'JWT_EXPIRY'>;
  readonly ids: Ids;
  readonly sign: SignToken;
}): AccessTokens {
  const { settings, ids, sign } = needs;
  return {
    issue: ({ user, readAt, email, tenant, sid, authTime, amr, appId }) => {
      const issuedAt = Math.max(Math.floor(readAt.getTime() / 1000), user.tokensBefore);
      const { typ, audience } = TOKEN_CLASSES.access;
      const claims: LoginClaims = {
        iss: settings.ISSUER,
        sub: user.id,
        aud: audience(settings.ISSUER),
        iat: issuedAt,
        exp: issuedAt + settings.JWT_EXPIRY,
        jti: ids.next(),
        tid: tenant.id,
        tenant_id: tenant.id,
        org_id: tenant.organizationId,
        email: email ?? '',
        roles: user.roles,
        auth_time: authTime,
        amr,
        ...(appId === null ? {} : { app_id: appId }),
        ...(sid === null ? {} : { sid }),
      };
      return { token: sign(typ, claims), expiresIn: settings.JWT_EXPIRY };
    },
  };
}
