/** Everything that the endpoints, loops and policies of identity share, built once from its needs. */
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceNeeds } from '@cardea/service';
import { type Accounts, accounts } from './accounts/accounts.ts';
import { type Administrators, administrators } from './accounts/administrators/administrators.ts';
import { type HashGate, hashGate } from './accounts/passwords/hash-gate.ts';
import {
  type PasswordFunction,
  type Passwords,
  passwords,
} from './accounts/passwords/passwords.ts';
import { type People, people } from './accounts/user-directory.ts';
import { type SignInGuard, signInGuard } from './authentication/sign-in-guard.ts';
import { type PostOffice, postOffice } from './mail/post-office.ts';
import { type AccessTokens, accessTokens } from './sessions/access-tokens.ts';
import { type LoginSessions, loginSessions } from './sessions/login-sessions.ts';
import { type SigningKeys, signingKeys } from './signing-keys/signing-keys.ts';
import { type Folded, folded } from './streams/folded.ts';
import { type Workspaces, workspaces } from './workspaces/workspaces.ts';

const DAY_MS = 24 * 3600_000;

export type Identity = ServiceNeeds & {
  readonly folded: Folded;
  readonly people: People;
  readonly accounts: Accounts;
  readonly administrators: Administrators;
  readonly workspaces: Workspaces;
  readonly loginSessions: LoginSessions;
  readonly postOffice: PostOffice;
  readonly passwords: Passwords;
  readonly gate: HashGate;
  readonly signInGuard: SignInGuard;
  readonly signingKeys: SigningKeys;
  readonly accessTokens: AccessTokens;
  readonly refreshKeys: ReturnType<ServiceNeeds['derive']>;
  readonly toAscii: (domain: string) => string;
};

export type IdentityParts = {
  readonly passwordFunction: PasswordFunction;
  readonly toAscii: (domain: string) => string;
};

export function identityOf(needs: ServiceNeeds, parts: IdentityParts): Identity {
  const { settings, streams, sealer, clock } = needs;
  const foldedStreams = folded(needs.store);
  const gate = hashGate(settings.HASH_CONCURRENCY, clock);
  const hashing = passwords(parts.passwordFunction, gate);
  const keys = signingKeys({
    ...needs,
    kek: needs.derive('JWT_SECRET', 'jwk-kek/v1'),
    rotateAfterMs: settings.SIGNING_KEY_ROTATION_DAYS * DAY_MS,
  });
  const everybody = people({ sealer, folded: foldedStreams, clock });
  const tokens = accessTokens({ ...needs, sign: keys.sign });
  const refreshKeys = needs.derive('JWT_SECRET', 'refresh/v1');
  return {
    ...needs,
    folded: foldedStreams,
    people: everybody,
    accounts: accounts({ streams, people: everybody }),
    administrators: administrators({ ...needs, people: everybody }),
    workspaces: workspaces({ ...needs, folded: foldedStreams }),
    loginSessions: loginSessions({
      ...needs,
      people: everybody,
      accessTokens: tokens,
      refreshKeys,
    }),
    postOffice: postOffice({ streams, sealer, folded: foldedStreams }),
    passwords: hashing,
    gate,
    signInGuard: signInGuard({ streams, sealer, passwords: hashing, limits: needs.limits }),
    signingKeys: keys,
    accessTokens: tokens,
    refreshKeys,
    toAscii: parts.toAscii,
  };
}

type AnyRequest = Request<unknown, unknown, unknown>;

/** An id for what a request makes: derived when the request can be repeated, else fresh. */
export const newId = (identity: Identity, request: AnyRequest, part: string): string =>
  request.idempotency === undefined
    ? identity.ids.next()
    : uuidFrom('resource', request.commandId, part);

/** What stands in an event to recognise a repeat by; keyed, for a body may hold a password. */
export const requestHash = async (
  identity: Identity,
  request: AnyRequest,
  scope: Parameters<ServiceNeeds['sealer']['indexHash']>[0],
): Promise<string | null> =>
  request.idempotency === undefined
    ? null
    : identity.sealer.indexHash(scope, 'request body', request.idempotency.bodyHash);

/** The answer to whoever asks too often. */
export const tooOften = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) =>
  ({
    refused: 'rate_limited',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }) as const;

export const latest = (...positions: readonly (bigint | undefined)[]): bigint | undefined =>
  positions.reduce<bigint | undefined>(
    (last, position) =>
      position !== undefined && (last === undefined || position > last) ? position : last,
    undefined,
  );
