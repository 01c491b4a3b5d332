/** Tokens and keys for tests of services that run without identity. */
import type { IntrospectedKey, SignToken, TOKEN_CLASSES } from '@cardea/auth';
import type { IssuedKey } from '@cardea/crypto';
import type { Clock } from '@cardea/runtime';

const LIFE_SECONDS = 900;

type Who = { readonly tenantId: string; readonly id: string };

export type FixtureTokens = {
  /** A user's own token. `roles: ['admin']` makes an admin. */
  user(of: Who & { readonly roles?: readonly string[]; readonly claims?: object }): string;
  /** An agent's token, on behalf of `userId` if given. */
  agent(of: Who & { readonly sessionId: string; readonly userId?: string }): string;
  capability(
    of: Who & {
      readonly sessionId: string;
      readonly keyId: string;
      readonly grants: readonly { readonly s: string; readonly f: readonly string[] }[];
      readonly userId?: string;
      readonly epoch?: number;
      readonly claims?: object;
    },
  ): string;
  /** An `svc_` key with these scopes. */
  apiKey(of: { readonly tenantId: string; readonly scopes: readonly string[] }): string;
  /** An `agk_` key of an agent. Capability tokens are bound to its id. */
  agentKey(of: Who & { readonly allowedCidrs?: readonly string[] }): {
    readonly key: string;
    readonly keyId: string;
  };
};

type Dependencies = {
  readonly issuer: string;
  readonly clock: Clock;
  readonly sign: SignToken;
  readonly classes: typeof TOKEN_CLASSES;
  readonly issue: (kind: 'svc' | 'agk') => IssuedKey;
  readonly remember: (credential: string, principal: IntrospectedKey) => void;
};

export function fixtureTokens({
  issuer,
  clock,
  sign,
  classes,
  issue,
  remember,
}: Dependencies): FixtureTokens {
  let count = 0;
  const common = (tenantId: string, sub: string, audience: string) => {
    const iat = Math.floor(clock.now().getTime() / 1000);
    count += 1;
    return {
      iss: issuer,
      sub,
      aud: audience,
      iat,
      exp: iat + LIFE_SECONDS,
      jti: `jti-${count}`,
      tid: tenantId,
      tenant_id: tenantId,
    };
  };
  const { access, capability } = classes;
  return {
    user({ tenantId, id, roles = ['member'], claims = {} }) {
      const base = common(tenantId, id, access.audience(issuer));
      return sign(access.typ, {
        ...base,
        org_id: `org-of-${tenantId}`,
        email: `${id}@example.com`,
        roles,
        auth_time: base.iat,
        amr: ['pwd'],
        sid: `sid-${id}`,
        ...claims,
      });
    },
    agent({ tenantId, id, sessionId, userId }) {
      return sign(access.typ, {
        ...common(tenantId, userId ?? id, access.audience(issuer)),
        act: { sub: id },
        agent_id: id,
        agent_session_id: sessionId,
        roles: [],
      });
    },
    capability({ tenantId, id, sessionId, keyId, grants, userId, epoch = 0, claims = {} }) {
      const base = common(tenantId, userId ?? id, capability.audience(issuer));
      return sign(capability.typ, {
        ...base,
        nbf: base.iat,
        asid: sessionId,
        act: { sub: id },
        cap: grants,
        cnf: { akid: keyId },
        ver: epoch,
        ...claims,
      });
    },
    apiKey({ tenantId, scopes }) {
      const { text, id } = issue('svc');
      const kind = 'api_key' as const;
      const environment = 'test' as const;
      remember(text, { kind, id, tenantId, scopes, environment, appId: null, expiresAt: null });
      return text;
    },
    agentKey({ tenantId, id, allowedCidrs = [] }) {
      const { text, id: keyId } = issue('agk');
      remember(text, {
        kind: 'agent',
        id,
        tenantId,
        via: 'key',
        userId: null,
        agentSessionId: null,
        keyId,
        appId: null,
        expiresAt: null,
        allowedCidrs,
      });
      return { key: text, keyId };
    },
  };
}
