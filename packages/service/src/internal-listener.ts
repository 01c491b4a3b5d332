/**
 * What this process offers to other services (`docs/design/approval.md`, Commands for vault;
 * `docs/design/tokens.md`, What services ask identity), on a port that no gateway reaches: endpoints for
 * whoever shows the deployment's bearer. A known outcome is 200; anything else tells the caller that the
 * service is of no use at the moment.
 */
import { type Ask, approvalCalls, type InternalCall, identityCalls } from '@cardea/contracts';
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
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
};

export const internalListener = (needs: InternalListenerDependencies): HttpServer =>
  serve({
    services: [
      { service: 'identity', endpoints: identityEndpoints(needs.offers.identity ?? {}) },
      { service: 'approval', endpoints: approvalEndpoints(needs.offers.approval ?? {}) },
    ],
    internal: needs.bearers,
    name: 'internal',
    version: needs.version,
    clock: needs.clock,
    ids: needs.ids,
    logger: needs.log,
    // It speaks plain HTTP, whatever clients are told of the deployment.
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
  ...serving(identityCalls.facts, offered.facts),
];

const approvalEndpoints = (offered: NonNullable<Offers['approval']>): readonly Endpoint[] => [
  ...serving(approvalCalls.open, offered.open),
  ...serving(approvalCalls.get, offered.get),
  ...serving(approvalCalls.consume, offered.consume),
];

/** None where this process does not offer it. */
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
      area: 'authorization',
      who: 'anyone',
      tenant: 'optional',
      internal: true,
      noStore: true,
    },
    async ({ params, query, body, tenantId }) => {
      const request: { readonly [field: string]: unknown } = { ...params, ...query, ...body };
      // Said twice, from two places of the caller: whoever mixes tenants up is refused here too.
      if (tenantField !== undefined && request[tenantField] !== tenantId) {
        return { refused: 'tenant_mismatch' };
      }
      // Of the type that `answer` takes, for it was checked against the same contract.
      return { ok: await answer(request as never) };
    },
  );
