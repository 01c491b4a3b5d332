import { type Endpoint, endpoint } from '@cardea/http';
import { metrics, span } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import type { SecretStore } from '../../adapters/secret-store.ts';
import type { Epochs } from '../../epochs.ts';
import type { IdentityFacts } from '../../identity-facts/identity-facts.ts';
import type { Catalog } from '../../services/services.module.ts';
import { fieldOf, type ServiceRecord } from '../../services/services.module.ts';
import type { CurrentGrant } from '../grant-key.ts';
import type { RefusalRecorder } from '../refusals.ts';
import type { ReuseCounter } from '../reuse.ts';
import type { Refused, VendCaches } from './authorized-request.ts';
import { vend } from './vend.ts';
import {
  ApprovalRequired,
  Granted,
  VEND_REFUSALS,
  VendBody,
  type VendRefusal,
  waitingAnswer,
} from './vend-shape.ts';
import { type VendRequest, type VerifiedSession, verifySession } from './verify-session.ts';

type VendDependencies = Pick<
  ServiceDependencies,
  'authenticator' | 'cache' | 'clock' | 'command' | 'ids' | 'peers' | 'revocations' | 'streams'
> & {
  readonly catalog: Catalog;
  readonly epochs: Epochs;
  readonly facts: IdentityFacts;
  /** Returns false if the grant key is refreshed by force too often. Used while the cache is unreachable. */
  readonly forceRate: (grantKeyId: string) => boolean;
  readonly caches: VendCaches;
  readonly refusals: RefusalRecorder;
  readonly reuse: ReuseCounter;
  readonly secrets: SecretStore;
  /** Returns false if the session exceeds its vend rate. */
  readonly sessionRate: (session: string) => boolean;
};

const NO_AGENT = { status: 401, code: 'INVALID_AGENT_KEY' } as const;
/** These refusals have their own event. The request pipeline records the others. */
const OWN = Object.keys(VEND_REFUSALS).filter((code) => code !== NO_AGENT.code);

export const vendRoute = (vault: VendDependencies): Endpoint =>
  endpoint(
    {
      name: 'vend_credential',
      summary: 'Hand out fields of a credential to an agent in its session',
      description:
        "Hands the values of a service's fields to an agent, as a grant for some minutes. It takes the agent key and, in `X-Service-Token`, the capability token of the session, which must cover every field. Where a policy requires an approval, the answer is 202: poll `poll_url`, then repeat the call with `approval_id`. The same session, service and fields get the same grant until it ends. A session may vend 100 times a second, and force 10 new grants a minute per service and fields.",
      tag: 'Vault',
      method: 'post',
      path: '/api/v1/agent/sessions/{id}/credentials',
      who: ['agent_key'],
      access: { needsCapability: true },
      params: Type.Object({ id: Type.String({ minLength: 1 }) }),
      body: VendBody,
      ok: Granted,
      response: {
        others: { 202: ApprovalRequired },
        errors: 'upper_case',
        codes: {
          unauthenticated: 'INVALID_AGENT_KEY',
          temporarily_unavailable: 'UNAVAILABLE',
          write_contention: 'UNAVAILABLE',
          internal_error: 'INTERNAL',
        },
      },
      refusals: VEND_REFUSALS,
      notTaken: { user: NO_AGENT, agent: NO_AGENT, api_key: NO_AGENT },
      repeat: 'by_key',
      recordsItsRefusals: OWN,
    },
    {
      authorize: async (request) => {
        const session = await verifySession(vault, request);
        if (!('refused' in session)) return { authorized: session };
        const { refused: code, sessionId } = session;
        metrics.vends.inc({ outcome: code });
        if (code !== NO_AGENT.code) {
          await vault.refusals.record(request, {
            agent_id: request.principal.id,
            code,
            session_id: sessionId,
            service_id: null,
            service_name: null,
            fields: null,
          });
        }
        return { refused: code };
      },
      handle: async (request, session) => {
        const parent = request.traceparent;
        const vended = await span('vend', () => vend(vault, request, session), { parent });
        if ('refused' in vended) return refused(vault, request, { session, vended });
        if ('waiting' in vended) {
          metrics.vends.inc({ outcome: 'approval_required' });
          return { ok: waitingAnswer(vended.waiting), status: 202 };
        }
        metrics.vends.inc({ outcome: 'granted' });
        return { ok: shownGrant(vended.grant, vended.values), wrote: vended.wrote };
      },
    },
  );

async function refused(
  vault: VendDependencies,
  request: VendRequest<VendBody>,
  { session, vended }: { readonly session: VerifiedSession; readonly vended: Refused },
) {
  const { refused: code, fields, mayAsk, reason, retryAfterSeconds, service } = vended;
  metrics.vends.inc({ outcome: code });
  await vault.refusals.record(request, {
    agent_id: session.capability.agentId,
    code,
    session_id: session.capability.agentSessionId,
    service_id: service?.id ?? null,
    service_name: service?.name ?? null,
    fields: registered(request.body.fields, service),
  });
  return {
    refused: code satisfies VendRefusal,
    ...(fields === undefined ? {} : { details: detailsOf(fields, mayAsk) }),
    ...(reason === undefined ? {} : { details: { reason } }),
    ...(retryAfterSeconds === undefined
      ? {}
      : { headers: { 'Retry-After': String(retryAfterSeconds) } }),
  };
}

const ASK_FOR_ACCESS = 'POST /api/v1/ciba/access-requests';

const detailsOf = (fields: readonly string[], mayAsk: boolean | undefined) =>
  mayAsk === true ? { fields, request_access: ASK_FOR_ACCESS } : { fields };

/** Field names that are not registered are not logged: a client may have sent anything. */
function registered(fields: readonly string[], service: ServiceRecord | undefined) {
  if (service === undefined) return null;
  const known = [...new Set(fields)].filter((name) => fieldOf(service, name) !== undefined);
  return known.length === 0 ? null : known.sort();
}

const shownGrant = (grant: CurrentGrant, values: readonly string[]) => ({
  data: {
    grant_id: grant.grant_id,
    service_name: grant.service_name,
    credential_type: grant.credential_type,
    fields: Object.fromEntries(grant.fields.map(({ name }, at) => [name, values[at] ?? ''])),
    expires_at: grant.expires_at,
    session_id: grant.session_id,
    granted_at: grant.granted_at,
  },
});
