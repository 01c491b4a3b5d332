/**
 * An agent requests access that it lacks. An administrator who approves the request gives the agent the access for a
 * limited time.
 */
import type { AgentPrincipal } from '@cardea/auth';
import {
  AGENT_ACCESS_SECONDS_MAX,
  AGENT_ACCESS_SECONDS_MIN,
  printApproverSet,
} from '@cardea/contracts';
import { endpoint, type Request } from '@cardea/http';
import { cleaned } from '@cardea/runtime';
import { newId, type ServiceDependencies, type SetHolders } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { Counters } from '../../counters.ts';
import {
  type AgentAccess,
  type IdentityFacts,
  isActive,
  patiently,
} from '../../identity-facts/identity-facts.ts';
import { ACCESS_TTL_SECONDS_DEFAULT, TTL_SECONDS_MAX } from '../../limits.ts';
import type { Changes } from '../changes.ts';
import { bodyHashOf, earlierRequest } from '../earlier-request.ts';
import { sealWord } from '../make-request.ts';
import { answerWith, putRequest, refusedByQueue } from '../put-request.ts';
import { requestShape } from '../request-shape.ts';
import { accessFactsOf, merged } from './ask-access.ts';

type AccessDependencies = Pick<
  ServiceDependencies,
  'streams' | 'clock' | 'systemCommand' | 'sealer' | 'ids' | 'command'
> & {
  readonly changes: Changes;
  readonly identityFacts: IdentityFacts;
  readonly counters: Counters;
  readonly setHolders: SetHolders;
};

const SERVICES_MAX = 10;
const FIELDS_MAX = 50;
const REASON_MAX_CHARS = 1_000;
const ADMINISTRATORS = { role: 'admin' } as const;

/** Each field is named, so that nobody gives an agent access that they have not read. */
const wantedService = Type.Object(
  {
    service_name: Type.String({ pattern: '^[a-z][a-z0-9_-]{1,62}$' }),
    fields: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), {
      minItems: 1,
      maxItems: FIELDS_MAX,
      uniqueItems: true,
    }),
  },
  { additionalProperties: false },
);
const body = Type.Object({
  services: Type.Array(wantedService, { minItems: 1, maxItems: SERVICES_MAX }),
  duration_seconds: Type.Integer({
    minimum: AGENT_ACCESS_SECONDS_MIN,
    maximum: AGENT_ACCESS_SECONDS_MAX,
  }),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: REASON_MAX_CHARS })),
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: TTL_SECONDS_MAX })),
});
type Asked = Request<unknown, unknown, Static<typeof body>, AgentPrincipal>;

export const askForAccess = (approval: AccessDependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'ask_for_access',
      summary: 'Ask for access that the agent lacks',
      description:
        'Asks the administrators whom the tenant setting `agent_access` names to give the agent fields of services for a while. Once one of them has approved, sessions that the agent starts can name these fields, until `duration_seconds` after the approval; a delegation is not widened. Poll `GET /api/v1/ciba/token/{approval_id}` for the decision. An agent may have 5 such requests open and make 20 a minute.',
      method: 'post',
      path: '/api/v1/ciba/access-requests',
      who: ['agent_token', 'agent_key'],
      notTaken: { api_key: { status: 401, code: 'unauthenticated' } },
      body,
      ok: requestShape,
      response: { status: 201 },
      refusals: {
        invalid_request: 400,
        access_requests_off: 403,
        agent_inactive: 403,
        agent_muted: 403,
        no_approver: 403,
        idempotency_key_reused: 422,
        approval_rate_limited: 429,
      },
      consistency: { waitsFor: ['requests'] },
      repeat: 'by_key',
    },
    async (request) => {
      const { tenantId, principal } = request;
      const { reason, duration_seconds: seconds } = request.body;
      if (reason !== undefined && cleaned(reason) === '') return unfit('reason', 'readable');
      const setting = await approval.identityFacts.agentAccess(tenantId);
      if (setting === undefined) return { refused: 'access_requests_off' };
      if (seconds > setting.max_seconds) return unfit('duration_seconds', 'setting');
      const earlier = await earlierRequest(approval, request);
      if (earlier !== undefined)
        return 'refused' in earlier ? earlier : answerWith(approval, earlier);
      const { clock, identityFacts } = approval;
      const agent = await patiently(clock, () => identityFacts.agent(tenantId, principal.id));
      if (!isActive(agent)) return { refused: 'agent_inactive' };
      if (!(await canDecide(approval, tenantId, setting))) {
        return { refused: 'no_approver', details: { reason: 'nobody_holds' } };
      }
      return make(approval, request, { setting, agentName: agent?.name ?? principal.id });
    },
  );

const unfit = (field: string, rule: string) =>
  ({ refused: 'invalid_request', details: [{ field, rule }] }) as const;

/** Whether the set contains an active administrator for whom the tenant vouches. */
async function canDecide(
  { setHolders }: AccessDependencies,
  tenantId: string,
  { approver: set }: AgentAccess,
): Promise<boolean> {
  const found = await setHolders.of({ tenantId, set, needed: 1, excludedUserId: undefined });
  if ('noApprover' in found) return false;
  const asked = { tenantId, set: ADMINISTRATORS, userIds: found.holders };
  return [...(await setHolders.standing(asked)).values()].some(({ holds }) => holds);
}

async function make(
  approval: AccessDependencies,
  request: Asked,
  { setting, agentName }: { readonly setting: AgentAccess; readonly agentName: string },
) {
  const { tenantId, principal } = request;
  const { services, duration_seconds, reason, ttl_seconds } = request.body;
  const { approver } = setting;
  const id = newId(approval, request, 'approval request');
  const command = await approval.command(request);
  const userId = printApproverSet(approver);
  const place = { tenantId, userId, requestId: id, isToSet: true };
  const [channels, body_hash, sealed] = await Promise.all([
    approval.identityFacts.channels(tenantId),
    bodyHashOf(approval, request),
    reason === undefined ? undefined : sealWord(approval, place, 'reason', cleaned(reason)),
  ]);
  if (sealed === 'erased') throw new Error('a key of a request that nobody has made is erased');
  const { appId: app_id, ip } = command.metadata;
  const facts = accessFactsOf(
    {
      id,
      tenant_id: tenantId,
      agent_id: principal.id,
      agent_name: agentName,
      channels,
      ...(app_id === undefined ? {} : { app_id }),
      ...(ip === undefined ? {} : { ip }),
      ...(sealed === undefined ? {} : { reason: sealed }),
      ...(body_hash === null ? {} : { body_hash }),
      ...(principal.userId === null ? {} : { session_user_id: principal.userId }),
    },
    {
      access: { services: merged(services), duration_seconds },
      approver,
      ttlSeconds: ttl_seconds ?? ACCESS_TTL_SECONDS_DEFAULT,
      now: command.now,
    },
  );
  const refused = await refusedByQueue(approval, facts, { userId, command });
  return refused ?? putRequest(approval, facts, command);
}
