import type { AgentPrincipal, UserPrincipal } from '@cardea/auth';
import { APPROVALS_NEEDED_MAX, SET_TEXT_MAX_CHARS } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { endpoint, type Request } from '@cardea/http';
import type { FactCopies, SetHolders } from '@cardea/service';
import { newId, type ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { isAction } from '../../actions/action-binding.ts';
import type { Counters } from '../../counters.ts';
import { deputyInForce } from '../../identity-facts/deputy-in-force.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import { isActive, patiently } from '../../identity-facts/identity-facts.ts';
import {
  CALLER_PER_MINUTE_MAX,
  MINUTE_MS,
  TTL_SECONDS_MAX,
  USE_WINDOW_SECONDS,
} from '../../limits.ts';
import type { Changes } from '../changes.ts';
import { bodyHashOf, earlierRequest } from '../earlier-request.ts';
import { sealWord } from '../make-request.ts';
import { answerWith, putRequest, refusedByQueue, tooMany } from '../put-request.ts';
import type { Origin } from '../request.ts';
import {
  ActionDetails,
  ActionDigest,
  isLive,
  NO_KEYS,
  requestShape,
  SeverityShape,
} from '../request-shape.ts';
import { factsOf, misfits, originOf, readable, setIn, unreadable, type Wanted } from './create.ts';
import { joinable } from './join.ts';

type CreateDependencies = Pick<
  ServiceDependencies,
  'streams' | 'clock' | 'systemCommand' | 'sealer' | 'revocations' | 'ids' | 'command'
> & {
  readonly changes: Changes;
  readonly identityFacts: IdentityFacts;
  readonly factCopies: Pick<FactCopies, 'user'>;
  readonly counters: Counters;
  readonly setHolders: SetHolders;
};

const name = (most: number) => Type.String({ minLength: 1, maxLength: most });

const body = Type.Object({
  agent_id: name(128),
  user_id: name(SET_TEXT_MAX_CHARS),
  action: name(64),
  resource: Type.Optional(name(200)),
  reason: Type.Optional(name(1_000)),
  severity: Type.Optional(SeverityShape),
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: TTL_SECONDS_MAX })),
  approvals_needed: Type.Optional(Type.Integer({ minimum: 1, maximum: APPROVALS_NEEDED_MAX })),
  details: Type.Optional(ActionDetails),
  action_digest: Type.Optional(ActionDigest),
  use_window_seconds: Type.Optional(
    Type.Integer({ minimum: USE_WINDOW_SECONDS.min, maximum: USE_WINDOW_SECONDS.max }),
  ),
});

const refusals = {
  invalid_request: 400,
  unauthenticated: 401,
  agent_mismatch: 403,
  user_not_allowed: 403,
  user_disabled: 403,
  agent_inactive: 403,
  agent_muted: 403,
  no_approver: 403,
  user_not_found: 404,
  idempotency_key_reused: 422,
  approval_rate_limited: 429,
} as const;
type Refused = {
  readonly refused: keyof typeof refusals;
  readonly details?: object;
  readonly headers?: { readonly [name: string]: string };
};

type Asked = Request<unknown, unknown, Wanted, AgentPrincipal | UserPrincipal>;
/** The sender of an allowed request, with its role and the user to whom it sends the request. */
type Asker = {
  readonly origin: Origin;
  /** The deputy who receives the request in place of the user. */
  readonly deputy?: string | undefined;
  readonly agentName: string;
  readonly userVouched: boolean;
};

export const createRequest = (approval: CreateDependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'create_approval_request',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Ask a user for a decision',
      description:
        'Asks a user to approve or deny an action. The user is told through the channels that the tenant has set. An agent asks the user of its session, its owner or one of its `approvers`, and only for itself. An administrator may ask every user, any other user only themselves. An administrator, or an agent that has it among its `approvers`, may also ask a set, by `role:<role>` or `<type>:<id>#<relation>` in `user_id`: everyone who stands in it when they decide, is active and vouched for, may; `approvals_needed` says how many have to approve. The same question of an agent, asked again while it is open, is answered with the open request. `details`, `action_digest` or `use_window_seconds` bind the request to an action of a tool of the caller: the user sees `details` in full, and the approval is used once by `POST /api/v1/ciba/requests/{id}/consume`, for exactly what was asked; it never releases a secret. An agent may have 5 requests open with one user and make 20 a minute; a user may make 300 a minute.',
      method: 'post',
      path: '/api/v1/ciba/requests',
      who: ['user', 'agent_token'],
      notTaken: NO_KEYS,
      body,
      ok: requestShape,
      response: { status: 201 },
      refusals,
      consistency: { waitsFor: ['requests'] },
      repeat: 'by_key',
    },
    async (request) => {
      const fields = unreadable(request.body).map((field) => ({ field, rule: 'readable' }));
      const details = [...fields, ...misfits(request.body)];
      if (details.length > 0) return { refused: 'invalid_request', details };
      const wanted = readable(request.body);
      const asker = await fitToAsk(approval, request, wanted);
      if ('refused' in asker) return asker;
      const earlier = await earlierRequest(approval, request);
      if (earlier !== undefined)
        return 'refused' in earlier ? earlier : answerWith(approval, earlier);
      const joined =
        asker.origin === 'agent' && !isAction(wanted)
          ? await joinable(approval, request.tenantId, wanted)
          : undefined;
      if (joined !== undefined) return answerWith(approval, joined);
      const over = await overLimit(approval, request, asker.origin);
      if (over !== undefined) return tooMany(over);
      return make(approval, request, { wanted, asker });
    },
  );

async function fitToAsk(
  approval: CreateDependencies,
  { principal, tenantId }: Asked,
  wanted: Wanted,
): Promise<Asker | Refused> {
  const { identityFacts, clock } = approval;
  if (principal.kind === 'user' && !(await isLive(approval, tenantId, principal.id))) {
    return { refused: 'unauthenticated' };
  }
  const lookAgent = () => identityFacts.agent(tenantId, wanted.agent_id);
  const agent = principal.kind === 'agent' ? await patiently(clock, lookAgent) : await lookAgent();
  const said = originOf(principal, wanted, agent);
  if ('refused' in said) return said;
  if (setIn(wanted) !== undefined) return fitToAskSet(approval, { tenantId, wanted, agent }, said);
  const lookUser = () => identityFacts.addressee(tenantId, wanted.user_id);
  const user = said.origin === 'self' ? await lookUser() : await patiently(clock, lookUser);
  if (said.origin !== 'self') {
    if (user === undefined) return { refused: 'user_not_found' };
    if (!isActive(user)) return { refused: 'user_disabled' };
  }
  if (!isActive(agent)) return { refused: 'agent_inactive' };
  const agentName = agent?.name ?? wanted.agent_id;
  const { origin } = said;
  // A user who sends a request to themselves needs no deputy.
  const of = { tenantId, userId: wanted.user_id, deputy: user?.deputy };
  const deputy = origin === 'self' ? undefined : await deputyInForce(approval, of, clock.now());
  return { origin, agentName, userVouched: deputy !== undefined || user?.vouched === true, deputy };
}

/** Looks up every member of the set who could decide, before anything is written. */
async function fitToAskSet(
  { setHolders }: CreateDependencies,
  of: {
    readonly tenantId: string;
    readonly wanted: Wanted;
    readonly agent: Awaited<ReturnType<IdentityFacts['agent']>>;
  },
  { origin }: { readonly origin: Origin },
): Promise<Asker | Refused> {
  const { tenantId, wanted, agent } = of;
  const set = setIn(wanted);
  // A user who sends a request to themselves cannot name a set. An agent may if the set is among its approvers.
  if (set === undefined || origin === 'self') return { refused: 'user_not_allowed' };
  if (!isActive(agent)) return { refused: 'agent_inactive' };
  const needed = wanted.approvals_needed ?? 1;
  const found = await setHolders.of({ tenantId, set, needed, excludedUserId: undefined });
  if ('noApprover' in found) {
    return { refused: 'no_approver', details: { reason: found.noApprover } };
  }
  return { origin, agentName: agent?.name ?? wanted.agent_id, userVouched: true };
}

/** Requests of agents are counted on their queue instead. */
async function overLimit(
  { counters }: CreateDependencies,
  { tenantId, principal }: Asked,
  origin: Origin,
): Promise<number | undefined> {
  if (origin === 'agent') return undefined;
  const key = `new:${tenantId}:${principal.kind}:${principal.id}`;
  return counters.over(key, CALLER_PER_MINUTE_MAX, MINUTE_MS);
}

async function make(
  approval: CreateDependencies,
  request: Asked,
  { wanted, asker }: { readonly wanted: Wanted; readonly asker: Asker },
) {
  const { tenantId } = request;
  const { reason, details, approvals_needed: needed = 1 } = wanted;
  const approver = setIn(wanted);
  const id = newId(approval, request, 'approval request');
  const command = await commandOf(approval, request, asker.origin);
  const isToSet = approver !== undefined;
  const { deputy } = asker;
  const place = { tenantId, userId: deputy ?? wanted.user_id, requestId: id, isToSet };
  const body_hash = await bodyHashOf(approval, request);
  const seal = (field: 'reason' | 'details', word: string | undefined) =>
    word === undefined ? undefined : sealWord(approval, place, field, word);
  const [channels, sealed, sealedDetails] = await Promise.all([
    approval.identityFacts.channels(tenantId),
    seal('reason', reason),
    seal('details', details === undefined ? undefined : JSON.stringify(details)),
  ]);
  if (sealed === 'erased' || sealedDetails === 'erased')
    return { refused: 'user_not_found' } as const;
  const { appId: app_id, ip } = command.metadata;
  const facts = factsOf(
    { ...wanted, user_id: place.userId },
    {
      id,
      tenant_id: tenantId,
      agent_name: asker.agentName,
      origin: asker.origin,
      user_vouched: asker.userVouched,
      channels,
      ...(app_id === undefined ? {} : { app_id }),
      ...(ip === undefined ? {} : { ip }),
      ...(sealed === undefined ? {} : { reason: sealed }),
      ...(sealedDetails === undefined ? {} : { details: sealedDetails }),
      ...(body_hash === null ? {} : { body_hash }),
      ...(approver === undefined ? {} : { approver, needed, ...sessionUserIn(request) }),
      ...(deputy === undefined ? {} : { deputy_for: wanted.user_id }),
    },
    command.now,
  );
  if (asker.origin === 'agent') {
    const refused = await refusedByQueue(approval, facts, { userId: wanted.user_id, command });
    if (refused !== undefined) return refused;
  }
  return putRequest(approval, facts, command);
}

/** Texts of a request to a set are erased with the person for whom the agent acts. */
const sessionUserIn = ({ principal }: Asked) =>
  principal?.kind === 'agent' && principal.userId !== null
    ? { session_user_id: principal.userId }
    : {};

/**
 * An admin who sends a request to another user acts as an admin, on an endpoint that is open to all
 * callers.
 */
const commandOf = (
  { command }: CreateDependencies,
  request: Asked,
  origin: Origin,
): Promise<Command> =>
  origin === 'admin' && request.principal !== undefined
    ? command(request, { actor: { type: 'admin', id: request.principal.id } })
    : command(request);
