/** Issues an agent new tokens for its session, or narrower ones. */
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { UserDirectory } from '../../../accounts/accounts.module.ts';
import { badField, closed, tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { SnapshotCache } from '../../../streams/snapshot-cache.ts';
import type { AgentTokens } from '../../agent-tokens.ts';
import {
  ConcreteGrants,
  missingFrom,
  normalised,
  type ServiceGrant,
} from '../../agents/service-grant.ts';
import { agentSessions } from '../agent-session.ts';
import type { Authority } from '../authority.ts';
import { whyEnded } from '../basis.ts';
import { authorityOfSession } from '../grant-basis.ts';
import {
  delegationRequired,
  KEYS_ONLY,
  PATH,
  SessionId,
  servicesFault,
  shownBriefly,
  TokensShape,
  Ttl,
} from '../session-shape.ts';
import { type IssueRefusal, issueTokens } from './issue-tokens.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'ids' | 'limits' | 'streams'> & {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly agentTokens: Pick<AgentTokens, 'issue'>;
};

export const issueTokensRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Agent sessions',
      name: 'issue_agent_tokens',
      repeat: 'safe',
      summary: 'New tokens for an agent session',
      description:
        'Answers new tokens for an open agent session. They are never wider than the session; narrower ones narrow the session for good.',
      method: 'post',
      path: `${PATH}/{id}/tokens`,
      who: ['agent_key'],
      notTaken: KEYS_ONLY,
      params: SessionId,
      body: closed({
        services: Type.Optional(ConcreteGrants),
        ttl_seconds: Type.Optional(Ttl),
      }),
      input: { isOptional: true },
      ok: TokensShape,
      response: { status: 201, codes: { unauthenticated: 'invalid_agent_key' } },
      refusals: {
        invalid_request: 400,
        invalid_agent_key: 401,
        attenuation_only: 403,
        scope_not_granted: 403,
        delegation_required: 403,
        user_inactive: 403,
        not_found: 404,
        session_ended: 410,
        rate_limited: 429,
      },
      consistency: { waitsFor: ['agent_sessions'] },
    },
    async (request) => {
      const { body, tenantId, params } = request;
      const agent = request.principal;
      const { keyId } = agent;
      if (keyId === null) return { refused: 'invalid_agent_key' };
      const fault = body.services && servicesFault(body.services);
      if (fault !== undefined) return badField('services', fault);
      const key = `${tenantId} ${agent.id}`;
      const taken = await needs.limits.take([LIMITS.agentSessionsByAgent, key]);
      if (!taken.allowed) return tooOften(taken);

      const of = { tenantId, id: params.id };
      const { state: before } = await needs.streams.load(agentSessions, of);
      if (before.status === 'none' || before.agent_id !== agent.id) return { refused: 'not_found' };
      const command = await needs.command(request);
      const { now } = command;
      const authority = await authorityOfSession(needs, before, { tenantId, now });
      const isOver = (await whyEnded(needs, before, { tenantId, now })) !== undefined;
      const wanted = body.services === undefined ? undefined : normalised(body.services);
      const capJti = needs.ids.next();
      const issue = { agentId: agent.id, keyId, wanted, authority, isOver, capJti, now };
      const decided = await needs.streams.decideOn(agentSessions, params.id, command, (state) =>
        issueTokens(issue, state),
      );
      const { state: session } = decided;
      if (session.status === 'none') return { refused: 'not_found' };
      if (!decided.accepted) {
        const asked = wanted ?? session.services;
        const { services: held } = session;
        return refusal(decided.reason, { agentId: agent.id, asked, held, authority });
      }
      const { position } = decided;
      const tokens = needs.agentTokens.issue({
        tenantId,
        session,
        ttlSeconds: body.ttl_seconds,
      });
      return {
        ok: { data: { ...shownBriefly(session, now), ...tokens } },
        wrote: position,
      };
    },
  );

type Asked = {
  readonly agentId: string;
  readonly asked: readonly ServiceGrant[];
  readonly held: readonly ServiceGrant[];
  readonly authority: Authority;
};

/** Names the requested services or scopes that were refused. */
function refusal(reason: IssueRefusal, { agentId, asked, held, authority }: Asked) {
  if (reason === 'attenuation_only') {
    return { refused: reason, details: { missing: missingFrom(held, asked) } };
  }
  if (reason === 'scope_not_granted' && 'granted' in authority) {
    return { refused: reason, details: { missing: authority.granted(asked).missing } };
  }
  if (reason === 'delegation_required') return delegationRequired(agentId, asked);
  return { refused: reason };
}
