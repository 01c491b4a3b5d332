/** Parts that operations share: credentials, headers of requests and of responses. */

import type { Caller } from '../contract/caller.ts';
import type { Contract } from '../contract/contract.ts';
import { CONSISTENCY_PATTERN } from '../pipeline/consistency.ts';

const HEADER = 'header';
const bearer = (description: string, bearerFormat?: string) => ({
  type: 'http',
  scheme: 'bearer',
  ...(bearerFormat === undefined ? {} : { bearerFormat }),
  description,
});

export const securitySchemes = {
  accessToken: bearer(
    'Access token of a user; the roles beside it are those that are needed.',
    'JWT',
  ),
  agentToken: bearer('Token of an agent within one of its sessions.', 'JWT'),
  agentKey: bearer('Key of an agent, `agk_…`.'),
  apiKey: bearer('API key of a server, `svc_…`, with one of the scopes beside it.'),
  machineToken: bearer(
    'Token of an application in its own name (`client_credentials`), with the scope beside it; where a user needs a role and no API key is taken, with that role too.',
    'JWT',
  ),
  capabilityToken: {
    type: 'apiKey',
    in: HEADER,
    name: 'X-Service-Token',
    description: 'Capability token of the agent session, together with the agent key.',
  },
} as const;
type Scheme = keyof typeof securitySchemes;

/** The alternative credentials of an operation; none for `anyone`. */
export function securityOf({ who, machine, access }: Contract): readonly object[] {
  if (who === 'anyone') return [];
  const machines = machine === undefined || machine === 'never' ? [] : [machine];
  const more = access?.needsCapability === true ? { capabilityToken: [] } : {};
  return [
    ...who.map((caller) => ({ ...schemeOf(caller), ...more })),
    ...machines.map((rule) => ({ machineToken: rule === 'any' ? [] : [rule] })),
  ];
}

function schemeOf(caller: Caller): { readonly [name in Scheme]?: readonly string[] } {
  switch (caller) {
    case 'user':
      return { accessToken: [] };
    case 'admin':
    case 'owner':
    case 'system_admin':
      return { accessToken: [caller] };
    case 'agent_token':
      return { agentToken: [] };
    case 'agent_key':
      return { agentKey: [] };
    default:
      return { apiKey: [caller.slice('api_key:'.length)] };
  }
}

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
/** Printable ASCII without space and comma. */
const tenant = { ...text(128), pattern: '^[\\x21-\\x2b\\x2d-\\x7e]+$' };
export const headerParameters = {
  TenantHeader: {
    name: 'X-Service-Tenant',
    in: HEADER,
    required: true,
    description: 'The tenant; the one of the credential, where there is one.',
    schema: tenant,
  },
  OptionalTenantHeader: {
    name: 'X-Service-Tenant',
    in: HEADER,
    description: 'May repeat the tenant that the credential names.',
    schema: tenant,
  },
  AppHeader: {
    name: 'X-Service-App-Id',
    in: HEADER,
    description: 'Scopes the call to one application; an empty one is none.',
    schema: { type: 'string', maxLength: 128 },
  },
  IdempotencyKeyHeader: {
    name: 'Idempotency-Key',
    in: HEADER,
    description: 'A repeat with the same key within 24 hours is the same command.',
    schema: { ...text(128), pattern: '^[ -~]+$' },
  },
  ConsistencyHeader: {
    name: 'X-Service-Consistency',
    in: HEADER,
    description:
      'Tokens of earlier answers, up to 16 with commas between: nothing older is read. Of one log the highest position counts, so clients may merge tokens.',
    schema: { type: 'string', pattern: CONSISTENCY_PATTERN },
    example: 'identity-42',
  },
};

export const answerHeaders = {
  RequestId: {
    description: 'Id of this request, as in logs and audit.',
    schema: { type: 'string' },
  },
  Consistency: {
    description: 'Sent back with a read, it makes the read wait for this write.',
    schema: { type: 'string', pattern: CONSISTENCY_PATTERN },
  },
  Location: { description: 'Where to go on.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
  Authenticate: { description: 'How to authenticate (RFC 6750).', schema: { type: 'string' } },
};

export const headerRef = (name: keyof typeof answerHeaders) => ({
  $ref: `#/components/headers/${name}`,
});
export const parameterRef = (name: keyof typeof headerParameters) => ({
  $ref: `#/components/parameters/${name}`,
});
