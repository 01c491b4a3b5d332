/** The schemas of agents in requests and responses. */

import type { Principal } from '@cardea/auth';
import { documented, named, SET_TEXT_MAX_CHARS, Time } from '@cardea/contracts';
import { isHonestName } from '@cardea/runtime';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import { FILLED_NAME } from '../../http/input-fields.ts';
import { AgentGrants } from './service-grant.ts';

export const NullableText = Type.Union([Type.String(), Type.Null()]);
export const AgentId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
export const AgentStatus = named('AgentStatus', Type.Enum(['active', 'suspended']));

export const AgentShape = named(
  'Agent',
  closed({
    id: Type.String(),
    tenant_id: Type.String(),
    app_id: NullableText,
    name: Type.String(),
    description: NullableText,
    status: AgentStatus,
    owner_user_id: NullableText,
    services: AgentGrants,
    approvers: Type.Array(Type.String()),
    created_at: Time,
  }),
);

const NAME_MAX = 64;
const DESCRIPTION_MAX = 500;
const APPROVERS_MAX = 10;

/** Surrounding spaces are removed. */
export const agentName = documented(Type.String({ minLength: 1, maxLength: NAME_MAX }), {
  pattern: FILLED_NAME,
});
export const agentFields = {
  description: Type.Optional(
    Type.Union([Type.String({ maxLength: DESCRIPTION_MAX }), Type.Null()]),
  ),
  owner_user_id: Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()])),
  app_id: Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()])),
  services: Type.Optional(AgentGrants),
  approvers: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: SET_TEXT_MAX_CHARS }), {
      maxItems: APPROVERS_MAX,
      uniqueItems: true,
    }),
  ),
};

/** Returns the name in NFC without surrounding spaces, or undefined if it is invalid. */
export function readName(input: string): string | undefined {
  const name = input.normalize('NFC').trim();
  return name === '' || !isHonestName(name) ? undefined : name;
}

export const AGENTS_READ = ['admin', 'api_key:agents:read'] as const;
export const AGENTS_WRITE = ['admin', 'api_key:agents:write'] as const;

const GRANTS = 'vault:grant';
export const NO_GRANT = {
  refused: 'insufficient_scope',
  message: `The caller lacks the scope ${GRANTS}.`,
  details: { scope: GRANTS },
} as const;
/**
 * Only an administrator in person, or a key or machine with the scope to grant, may decide what an agent reaches and
 * create keys for it.
 */
export const mayGrant = (principal: Principal | undefined): boolean =>
  principal?.kind === 'user' ||
  ((principal?.kind === 'api_key' || principal?.kind === 'client') &&
    principal.scopes.includes(GRANTS));

type Reach = {
  readonly services?: readonly object[];
  readonly owner_user_id?: string | null;
  readonly approvers?: readonly string[];
};
/** Whether an agent that is created with these fields may reach anything or send requests to anybody. */
export const reaches = ({ services = [], owner_user_id = null, approvers = [] }: Reach): boolean =>
  services.length > 0 || owner_user_id !== null || approvers.length > 0;
/** Whether a change sets what an agent may reach or to whom it may send requests, even if it is less than before. */
export const setsReach = ({ services, owner_user_id, approvers }: Reach): boolean =>
  services !== undefined || owner_user_id !== undefined || approvers !== undefined;
