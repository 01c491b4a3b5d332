/** An agent opens a session with its key, for itself or on behalf of a user. */

import type { AgentPrincipal, UserPrincipal } from '@cardea/auth';
import { documented } from '@cardea/contracts';
import { WriteContention } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { newId, repeatAnswer, requestHash, type ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  type ExistingUser,
  exists,
  type UserDirectory,
  users,
} from '../../../accounts/accounts.module.ts';
import { badField, closed, tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import { isAlive, sessions, validityContextOf } from '../../../sessions/sessions.module.ts';
import type { AgentTokens } from '../../agent-tokens.ts';
import { agents } from '../../agents/agent.ts';
import { ConcreteGrants, normalised } from '../../agents/service-grant.ts';
import { delegationId, delegations } from '../../delegations/delegation.ts';
import { type AgentSessionFacts, agentSessions } from '../agent-session.ts';
import {
  KEYS_ONLY,
  PATH,
  SESSIONS,
  servicesFault,
  shownBriefly,
  TokensShape,
  Ttl,
} from '../session-shape.ts';
import {
  authorityAtStart,
  type SessionToStart,
  type StartBasis,
  type StartRefusal,
  startAgentSession,
} from './start.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'authenticator' | 'clock' | 'command' | 'ids' | 'limits' | 'sealer' | 'streams' | 'systemCommand'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly agentTokens: Pick<AgentTokens, 'issue'>;
};

const TTL_DEFAULT_S = 3_600;
const PURPOSE_MAX = 200;
const TOKEN_MAX = 8_192;
const MS = 1_000;

/** For a user by their token, for one by a delegation, or for nobody: 400 `user_id exclusive`. */
const Body = documented(
  closed({
    services: ConcreteGrants,
    subject_token: Type.Optional(Type.String({ maxLength: TOKEN_MAX })),
    user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    ttl_seconds: Type.Optional(Ttl),
    purpose: Type.Optional(Type.String({ maxLength: PURPOSE_MAX })),
  }),
  {
    not: { properties: { subject_token: {}, user_id: {} }, required: ['subject_token', 'user_id'] },
    examples: [
      {
        services: [{ service_name: 'erp', fields: ['api_key'] }],
        user_id: '01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55',
        ttl_seconds: 3_600,
        purpose: 'File the invoices of November',
      },
    ],
  },
);
type StartBody = Static<typeof Body>;
type Asked = Request<unknown, unknown, StartBody, AgentPrincipal>;

export const startAgentSessionRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...SESSIONS,
      name: 'start_agent_session',
      summary: 'Start an agent session',
      method: 'post',
      path: PATH,
      who: ['agent_key'],
      notTaken: KEYS_ONLY,
      pipelineCodes: { unauthenticated: 'invalid_agent_key' },
      body: Body,
      ok: TokensShape,
      status: 201,
      refusals: {
        invalid_request: 400,
        invalid_subject_token: 400,
        invalid_agent_key: 401,
        scope_not_granted: 403,
        delegation_required: 403,
        user_inactive: 403,
        already_created: 409,
        idempotency_key_reused: 422,
        rate_limited: 429,
      },
      idempotent: true,
      waitsFor: ['agent_sessions'],
    },
    async (request) => {
      const { body, tenantId, principal: agent } = request;
      const { keyId } = agent;
      if (keyId === null) return { refused: 'invalid_agent_key' };
      const fault = servicesFault(body.services);
      if (fault !== undefined) return badField('services', fault);
      const taken = await needs.limits.take(LIMITS.agentSessionsByAgent, `${tenantId} ${agent.id}`);
      if (!taken.allowed) return tooOften(taken);

      const behind = await userBehind(needs, request);
      if (behind.refused !== undefined) return behind;
      return await started(needs, request, { ...behind, keyId });
    },
  );

async function started(
  needs: Dependencies,
  request: Asked,
  behind: UserBehind & { readonly keyId: string },
) {
  const { body, tenantId, principal: agent } = request;
  const command = await needs.command(request);
  const { now } = command;
  const ownHash = await requestHash(needs, request);
  const lifeMs = (body.ttl_seconds ?? TTL_DEFAULT_S) * MS;
  const { userId, subjectSid: sid } = behind;
  const facts = {
    id: newId(needs, request, 'agent session'),
    agent_id: agent.id,
    key_id: behind.keyId,
    user_id: userId,
    via: behind.via,
    user_epoch: behind.userEpoch,
    subject_sid: sid,
    epoch: 0,
    purpose: body.purpose ?? null,
    app_id: agent.appId,
    cap_jti: needs.ids.next(),
    parent_jti: null,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + lifeMs).toISOString(),
    ended_at: null,
    reason: null,
    request_hash: ownHash,
  };
  const starting: SessionToStart = { facts, wanted: body.services, now };
  let basis: StartBasis = NOTHING;
  // As this process has last seen them: the append proves that none of them has changed since.
  const decided = await needs.streams.decideOnBasis(agentSessions, facts.id, command, {
    isNew: true,
    restsOn: {
      agent: { stream: agents, id: agent.id },
      user: userId === null ? undefined : { stream: users, id: userId },
      delegation:
        userId === null || behind.userEpoch === null
          ? undefined // an id that nobody has need not even be a UUID, and names no delegation
          : { stream: delegations, id: delegationId(userId, agent.id) },
      login: sid === null ? undefined : { stream: sessions, id: sid },
    },
    decide: (session, found) => {
      basis = found;
      return startAgentSession(starting, session, found);
    },
  });
  if (!decided.accepted && decided.reason !== 'already_created') {
    return refusalOf(decided.reason, starting, basis);
  }
  const { state } = decided;
  if (!decided.accepted || decided.repeated || state.status === 'none') {
    const requestHash = state.status === 'none' ? null : state.request_hash;
    return repeatAnswer(ownHash, { id: facts.id, requestHash });
  }
  const tokens = needs.agentTokens.issue({ tenantId, session: state, ttlSeconds: undefined });
  return { ok: { data: { ...shownBriefly(state, now), ...tokens } }, wrote: decided.position };
}

const NOTHING: StartBasis = {
  agent: agents.initial,
  user: undefined,
  delegation: undefined,
  login: undefined,
};

function refusalOf(
  reason: Exclude<StartRefusal, 'already_created'>,
  starting: SessionToStart,
  basis: StartBasis,
) {
  switch (reason) {
    case 'invalid_agent_key':
    case 'delegation_required':
    case 'user_inactive':
      return { refused: reason } as const;
    case 'scope_not_granted': {
      const authority = authorityAtStart(starting, basis);
      if ('refused' in authority) return authority;
      const { missing } = authority.granted(normalised(starting.wanted));
      return { refused: reason, details: { missing } } as const;
    }
    default:
      return overtaken(starting.facts.via);
  }
}

/** What it was to rest on was ended after it was looked at. */
function overtaken(via: AgentSessionFacts['via']) {
  if (via === 'subject_token') return { refused: 'invalid_subject_token' } as const;
  throw new WriteContention('the user ended all sessions meanwhile; the delegation stands');
}

type UserBehind = {
  readonly userId: string | null;
  readonly userEpoch: number | null;
  readonly subjectSid: string | null;
  readonly via: AgentSessionFacts['via'];
  readonly refused: undefined;
};

async function userBehind(
  needs: Pick<Dependencies, 'authenticator' | 'clock' | 'streams' | 'userDirectory'>,
  request: Asked,
) {
  const none = { userId: null, userEpoch: null, subjectSid: null, refused: undefined };
  const { subject_token: token, user_id: userId } = request.body;
  if (token !== undefined && userId !== undefined) return badField('user_id', 'exclusive');
  if (token !== undefined) {
    const subject = await liveSubject(needs, request, token);
    if (subject === undefined) return { refused: 'invalid_subject_token' } as const;
    return { ...none, ...subject, via: 'subject_token' } satisfies UserBehind;
  }
  if (userId === undefined) return { ...none, via: 'agent' } satisfies UserBehind;
  const user = await needs.userDirectory.byId(request.tenantId, userId);
  const userEpoch = exists(user) ? user.epoch : null;
  return { ...none, userId, userEpoch, via: 'delegation' } satisfies UserBehind;
}

/** Whose live access token it is: a person's own, whose session has not ended. */
async function liveSubject(
  needs: Pick<Dependencies, 'authenticator' | 'clock' | 'streams' | 'userDirectory'>,
  { tenantId, ip }: Asked,
  token: string,
): Promise<Pick<UserBehind, 'userId' | 'userEpoch' | 'subjectSid'> | undefined> {
  const { authenticator, userDirectory, streams, clock } = needs;
  const principal = await authenticator.authenticate(token, ip);
  if (principal?.kind !== 'user' || principal.impersonatedBy !== null) return undefined;
  if (principal.tenantId !== tenantId) return undefined;
  // An application may not lend its user to an agent, unless it may act as the whole account.
  if (principal.clientId !== null && !principal.scopes?.includes('account')) return undefined;
  const { sessionId } = principal;
  const [user, login] = await Promise.all([
    userDirectory.byId(tenantId, principal.id),
    sessionId === null ? undefined : streams.load(sessions, { tenantId, id: sessionId }),
  ]);
  if (!exists(user)) return undefined;
  const subject = { userId: user.id, userEpoch: user.epoch, subjectSid: sessionId };
  if (login === undefined) return isOfEpoch(principal, user) ? subject : undefined;
  if (login.state.status === 'none') return undefined;
  return isAlive(login.state, validityContextOf(user, true), clock.now()) ? subject : undefined;
}

/** A token that names no session belongs to the epoch in which its user signed in; in doubt to the one before. */
const isOfEpoch = ({ authTime }: UserPrincipal, { epoch, epochSince }: ExistingUser): boolean =>
  epoch === 0 || (authTime !== null && authTime * MS > new Date(epochSince).getTime());
