/**
 * The endpoints of this process for other services (`docs/design/approval.md`, Commands for vault;
 * `docs/design/tokens.md`, What services ask identity). They are on a port that the gateway does not route to, and
 * require one of the deployment's bearer tokens. A known outcome is answered with 200. For the caller any other status
 * means that the service is unavailable.
 */
import {
  type Ask,
  approvalCalls,
  authzCalls,
  type InternalCall,
  identityCalls,
} from '@cardea/contracts';
import { type Endpoint, endpoint, type HttpServer, serve } from '@cardea/http';
import { type Clock, type Ids, type Logger, metrics } from '@cardea/runtime';
import type { InternalBearers } from './internal-bearer.ts';
import type { Offers } from './peers.ts';

export type InternalListenerDependencies = {
  readonly offers: Offers;
  readonly bearers: InternalBearers;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly version: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly host: string;
};

export const internalListener = (needs: InternalListenerDependencies): HttpServer =>
  serve({
    services: [
      { service: 'identity', endpoints: identityEndpoints(needs.offers.identity ?? {}) },
      { service: 'approval', endpoints: approvalEndpoints(needs.offers.approval ?? {}) },
      { service: 'authz', endpoints: authzEndpoints(needs.offers.authz ?? {}) },
    ],
    internal: needs.bearers,
    name: 'internal',
    version: needs.version,
    clock: needs.clock,
    ids: needs.ids,
    logger: needs.log,
    // The listener uses plain HTTP, whatever the deployment's public URL is.
    issuer: '',
    trustedProxies: [],
    registry: metrics.registry,
    port: needs.port,
    hosts: [needs.host],
  });

const identityEndpoints = (offered: NonNullable<Offers['identity']>): readonly Endpoint[] => [
  ...serving(identityCalls.jwks, offered.jwks),
  ...serving(identityCalls.introspect, offered.introspect),
  ...serving(identityCalls.ended, offered.ended),
  ...serving(identityCalls.origins, offered.origins),
  ...serving(identityCalls.pageToken, offered.pageToken),
  ...serving(identityCalls.proofs, offered.proofs),
  ...serving(identityCalls.stepUp, offered.stepUp),
  ...serving(identityCalls.facts, offered.facts),
  ...serving(identityCalls.people, offered.people),
];

const approvalEndpoints = (offered: NonNullable<Offers['approval']>): readonly Endpoint[] => [
  ...serving(approvalCalls.open, offered.open),
  ...serving(approvalCalls.get, offered.get),
  ...serving(approvalCalls.consume, offered.consume),
];

const authzEndpoints = (offered: NonNullable<Offers['authz']>): readonly Endpoint[] => [
  ...serving(authzCalls.holders, offered.holders),
  ...serving(authzCalls.check, offered.check),
];

/** Returns no endpoints if this process does not offer the call. */
const serving = <Call extends InternalCall>(
  call: Call,
  answer: Ask<Call> | undefined,
): readonly Endpoint[] => (answer === undefined ? [] : [served(call, answer)]);

const served = (
  { tenantField, ...contract }: InternalCall,
  answer: (request: never) => Promise<unknown>,
): Endpoint =>
  endpoint(
    {
      ...contract,
      tag: 'Internal',
      who: 'anyone',
      tenant: 'optional',
      audience: 'internal',
      response: { isSecret: true },
    },
    async ({ params, query, body, tenantId }) => {
      const request: { readonly [field: string]: unknown } = { ...params, ...query, ...body };
      // The tenant is sent twice, from two places in the caller's code, so that a caller that mixes tenants up is
      // refused here.
      if (tenantField !== undefined && request[tenantField] !== tenantId) {
        return { refused: 'tenant_mismatch' };
      }
      // The cast is safe, because the value was validated against the contract of `answer`.
      return { ok: await answer(request as never) };
    },
  );
