/** Starts an agent session for the holder of an agent key, for `POST /agent/sessions` and for the token exchange. */
import type { AgentPrincipal, UserPrincipal } from '@cardea/auth';
import { WriteContention } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { newId, repeatAnswer, requestHash, type ServiceDependencies } from '@cardea/service';
import {
  type ExistingUser,
  exists,
  type UserDirectory,
  users,
} from '../../../accounts/accounts.module.ts';
import { badField, tooOften } from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import { isAlive, sessions, validityContextOf } from '../../../sessions/sessions.module.ts';
import type { AgentTokens } from '../../agent-tokens.ts';
import { agents } from '../../agents/agent.ts';
import { ANY_FIELD, normalised } from '../../agents/service-grant.ts';
import { delegationId, delegations } from '../../delegations/delegation.ts';
import { type AgentSessionFacts, agentSessions } from '../agent-session.ts';
import { delegationRequired, servicesFault } from '../session-shape.ts';
import {
  authorityAtStart,
  reachOf,
  type SessionToStart,
  type StartBasis,
  type StartRefusal,
  startAgentSession,
  type WantedServices,
} from './start.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'authenticator' | 'clock' | 'command' | 'ids' | 'limits' | 'sealer' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly agentTokens: Pick<AgentTokens, 'issue'>;
};

const TTL_DEFAULT_S = 3_600;
const MS = 1_000;

type AgentRequest = Request<unknown, unknown, unknown, AgentPrincipal>;
/** The request: for a user by the user's token, for a user by a delegation, or for the agent itself. */
export type AgentSessionRequest = {
  readonly services: WantedServices;
  readonly subjectToken?: string | undefined;
  readonly userId?: string | undefined;
  readonly ttlSeconds?: number | undefined;
  readonly purpose?: string | undefined;
};

export type AgentSessionStart = ReturnType<typeof agentSessionStart>;

export const agentSessionStart =
  (deps: Dependencies) => async (request: AgentRequest, asked: AgentSessionRequest) => {
    const { tenantId, principal: agent } = request;
    const { keyId } = agent;
    if (keyId === null) return { refused: 'invalid_agent_key' } as const;
    const fault = 'whole' in asked.services ? undefined : servicesFault(asked.services);
    if (fault !== undefined) return badField('services', fault);
    const taken = await deps.limits.take([LIMITS.agentSessionsByAgent, `${tenantId} ${agent.id}`]);
    if (!taken.allowed) return tooOften(taken);

    const user = await userBehind(deps, request, asked);
    if (user.refused !== undefined) return user;
    return await started(deps, request, { ...asked, ...user, keyId });
  };

async function started(
  deps: Dependencies,
  request: AgentRequest,
  asked: Omit<AgentSessionRequest, 'userId'> & UserBehind & { readonly keyId: string },
) {
  const { tenantId, principal: agent } = request;
  const command = await deps.command(request);
  const { now } = command;
  const ownHash = await requestHash(deps, request);
  const lifeMs = (asked.ttlSeconds ?? TTL_DEFAULT_S) * MS;
  const { userId, subjectSid: sid } = asked;
  const facts = {
    id: newId(deps, request, 'agent session'),
    agent_id: agent.id,
    key_id: asked.keyId,
    user_id: userId,
    via: asked.via,
    user_epoch: asked.userEpoch,
    subject_sid: sid,
    epoch: 0,
    purpose: asked.purpose ?? null,
    app_id: agent.appId,
    cap_jti: deps.ids.next(),
    parent_jti: null,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + lifeMs).toISOString(),
    ended_at: null,
    reason: null,
    request_hash: ownHash,
  };
  const starting: SessionToStart = { facts, wanted: asked.services, now };
  let basis: StartBasis = NOTHING;
  // The states are from this process's caches. The append proves that none of them has changed.
  const decided = await deps.streams.decideOnBasis(agentSessions, facts.id, command, {
    isNew: true,
    restsOn: {
      agent: { stream: agents, id: agent.id },
      user: userId === null ? undefined : { stream: users, id: userId },
      delegation:
        userId === null || asked.userEpoch === null
          ? undefined // An unknown id may not even be a UUID, and has no delegation.
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
  const tokens = deps.agentTokens.issue({ tenantId, session: state, ttlSeconds: undefined });
  return { ok: { session: state, tokens, now }, wrote: decided.position };
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
    case 'delegation_required':
      return delegationRequired(starting.facts.agent_id, namedIn(starting.wanted));
    case 'invalid_agent_key':
    case 'user_inactive':
      return { refused: reason } as const;
    case 'scope_not_granted': {
      const authority = authorityAtStart(starting, basis);
      if ('refused' in authority) return refusalOf(authority.refused, starting, basis);
      const { missing } = reachOf(authority, starting.wanted);
      return { refused: reason, details: { missing } } as const;
    }
    default:
      return overtaken(starting.facts.via);
  }
}

const namedIn = (wanted: WantedServices) =>
  'whole' in wanted
    ? wanted.whole.map((service_name) => ({ service_name, fields: [ANY_FIELD] }))
    : normalised(wanted);

/** The refusal if the session's basis ended after it was read. */
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
  deps: Pick<Dependencies, 'authenticator' | 'clock' | 'streams' | 'userDirectory'>,
  request: AgentRequest,
  { subjectToken: token, userId }: AgentSessionRequest,
) {
  const none = { userId: null, userEpoch: null, subjectSid: null, refused: undefined };
  if (token !== undefined && userId !== undefined) return badField('user_id', 'exclusive');
  if (token !== undefined) {
    const subject = await liveSubject(deps, request, token);
    if (subject === undefined) return { refused: 'invalid_subject_token' } as const;
    return { ...none, ...subject, via: 'subject_token' } satisfies UserBehind;
  }
  if (userId === undefined) return { ...none, via: 'agent' } satisfies UserBehind;
  const user = await deps.userDirectory.byId(request.tenantId, userId);
  const userEpoch = exists(user) ? user.epoch : null;
  return { ...none, userId, userEpoch, via: 'delegation' } satisfies UserBehind;
}

/** The user of the live access token: a token of the user's own whose session has not ended. */
async function liveSubject(
  deps: Pick<Dependencies, 'authenticator' | 'clock' | 'streams' | 'userDirectory'>,
  { tenantId, ip }: AgentRequest,
  token: string,
): Promise<Pick<UserBehind, 'userId' | 'userEpoch' | 'subjectSid'> | undefined> {
  const { authenticator, userDirectory, streams, clock } = deps;
  const principal = await authenticator.authenticate(token, ip);
  if (principal?.kind !== 'user' || principal.impersonatedBy !== null) return undefined;
  if (principal.tenantId !== tenantId) return undefined;
  // An application may not let an agent act for its user, unless it has the scope for the whole account.
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

/**
 * A token without a session belongs to the epoch in which its user signed in. If that is uncertain, it belongs to the
 * previous epoch.
 */
const isOfEpoch = ({ authTime }: UserPrincipal, { epoch, epochSince }: ExistingUser): boolean =>
  epoch === 0 || (authTime !== null && authTime * MS > new Date(epochSince).getTime());
