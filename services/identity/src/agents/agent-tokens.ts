/**
 * The claims of an agent session's two tokens (`docs/design/tokens.md`, Token classes). The signer adds key and
 * signature.
 */
import {
  type AgentClaims,
  type CapabilityClaims,
  type SignToken,
  TOKEN_CLASSES,
} from '@cardea/auth';
import type { Clock, Ids, Settings } from '@cardea/runtime';
import type { AgentSessionFacts } from './agent-sessions/agent-session.ts';

export type AgentTokens = {
  readonly issue: (of: {
    readonly tenantId: string;
    readonly session: AgentSessionFacts;
    /** A shorter lifetime than the usual one, if any. */
    readonly ttlSeconds: number | undefined;
  }) => {
    readonly capability_token: string;
    readonly capability_expires_at: string;
    readonly agent_token: string;
    readonly expires_in: number;
  };
};

const MS = 1_000;

export function agentTokens(needs: {
  readonly settings: Pick<Settings, 'ISSUER' | 'JWT_EXPIRY'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly sign: SignToken;
}): AgentTokens {
  const { settings, clock, ids, sign } = needs;
  return {
    issue: ({ tenantId, session, ttlSeconds }) => {
      const iat = Math.floor(clock.now().getTime() / MS);
      const sessionEnd = Math.floor(new Date(session.expires_at).getTime() / MS);
      const life = Math.min(settings.JWT_EXPIRY, ttlSeconds ?? settings.JWT_EXPIRY);
      const exp = Math.min(iat + life, sessionEnd);
      const common = {
        iss: settings.ISSUER,
        sub: session.user_id ?? session.agent_id,
        iat,
        exp,
        tid: tenantId,
        tenant_id: tenantId,
        act: { sub: session.agent_id },
        ...(session.app_id === null ? {} : { app_id: session.app_id }),
      };
      const capability: CapabilityClaims = {
        ...common,
        aud: TOKEN_CLASSES.capability.audience(settings.ISSUER),
        jti: session.cap_jti,
        nbf: iat,
        asid: session.id,
        cap: session.services.map(({ service_name: s, fields: f }) => ({ s, f })),
        cnf: { akid: session.key_id },
        ver: session.epoch,
        ...(session.purpose === null ? {} : { purpose: session.purpose }),
        ...(session.parent_jti === null ? {} : { pjti: session.parent_jti }),
      };
      const agent: AgentClaims = {
        ...common,
        aud: TOKEN_CLASSES.access.audience(settings.ISSUER),
        jti: ids.next(),
        agent_id: session.agent_id,
        agent_session_id: session.id,
        roles: [],
      };
      return {
        capability_token: sign(TOKEN_CLASSES.capability.typ, capability),
        capability_expires_at: new Date(exp * MS).toISOString(),
        agent_token: sign(TOKEN_CLASSES.access.typ, agent),
        expires_in: exp - iat,
      };
    },
  };
}
