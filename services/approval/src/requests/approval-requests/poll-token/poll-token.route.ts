import { NullableTime, named, Time } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies, SetHolders } from '@cardea/service';
import Type from 'typebox';
import { INTERVAL_SECONDS } from '../../limits.ts';
import type { Changes } from '../changes.ts';
import { mayRead } from '../decider.ts';
import type { Polls } from '../polls.ts';
import { readRequest } from '../read-request.ts';
import { type ExistingRequest, useBefore } from '../request.ts';
import { StatusShape } from '../request-shape.ts';
import { untilDecided } from '../until-decided.ts';

type PollTokenDependencies = Pick<ServiceDependencies, 'streams' | 'clock' | 'systemCommand'> & {
  readonly changes: Changes;
  readonly setHolders: SetHolders;
  readonly polls: Polls;
  /** Takes a token from the rate limit of the poll route. The limit applies per request. */
  readonly pace: (key: string) => Promise<boolean>;
};

const WAIT_SECONDS_MAX = 25;

const ok = Type.Object(
  {
    data: named(
      'VendingApproval',
      Type.Object(
        {
          approval_id: Type.String(),
          status: StatusShape,
          expires_at: Time,
          interval: Type.Integer(),
          use_before: NullableTime,
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/**
 * The poll route that a vend's 202 response names. It returns the state of the approval, and never a token or a code.
 */
export const pollToken = (needs: PollTokenDependencies) =>
  endpoint(
    {
      tag: 'Approval requests',
      name: 'poll_vend_approval',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Whether the approval that a vend waits for was given',
      description:
        "Tells whether the approval that a vend waits for was given; the address is `poll_url` of the vend's answer. With `wait` it answers as soon as there is a decision, at the latest after that many seconds. It hands out no secret: after `approved`, vend again with `approval_id`. Ask every `interval` seconds.",
      method: 'get',
      path: '/api/v1/ciba/token/{approval_id}',
      who: ['user', 'agent_token', 'agent_key'],
      notTaken: { api_key: { status: 401, code: 'unauthenticated' } },
      params: Type.Object({ approval_id: Type.String({ minLength: 1, maxLength: 128 }) }),
      query: Type.Object({
        wait: Type.Optional(Type.Integer({ minimum: 1, maximum: WAIT_SECONDS_MAX })),
      }),
      ok,
      refusals: { request_not_found: 404, slow_down: 429, too_many_polls: 429 },
    },
    async (request) => {
      const { params, principal, tenantId, query } = request;
      const { approval_id: id } = params;
      const headers = { 'Retry-After': String(INTERVAL_SECONDS) };
      const now = await readRequest(needs, tenantId, id);
      if (
        now.status === 'none' ||
        !(await mayRead(needs, principal, { request: now, now: needs.clock.now() }))
      ) {
        return { refused: 'request_not_found' };
      }
      if (!(await needs.pace(`approval:pace:${tenantId}:${id}`))) {
        return { refused: 'slow_down', headers };
      }
      if (now.status !== 'pending' || query.wait === undefined) return { ok: stateOf(now) };
      const found = await untilDecided(needs, request, { id, waitMs: query.wait * 1000 });
      if (found === 'too_many_polls') return { refused: found, headers };
      return { ok: stateOf(found) };
    },
  );

const stateOf = (request: ExistingRequest) => ({
  data: {
    approval_id: request.facts.id,
    status: request.status,
    expires_at: request.facts.expires_at,
    interval: INTERVAL_SECONDS,
    use_before: useBefore(request)?.toISOString() ?? null,
  },
});
