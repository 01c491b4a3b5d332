/**
 * The tags of operations in the OpenAPI document, each with the area in which refusals of its endpoints are recorded.
 */
import type { ServiceName } from '@cardea/contracts';
import type { Area } from '../own-denial.ts';
import type { Who } from './caller.ts';

const AREAS = {
  Administration: 'admin',
  'Agent sessions': 'agent',
  Agents: 'agent',
  'API keys': 'admin',
  Applications: 'admin',
  'Approval channels': 'admin',
  'Approval deputies': 'authorization',
  'Approval requests': 'authorization',
  'Audit log': 'admin',
  Authentication: 'user',
  Development: 'user',
  Discovery: 'user',
  Documents: 'user',
  'Fine-grained authorization': 'fga',
  Health: 'user',
  Internal: 'authorization',
  OAuth: 'user',
  Pages: 'user',
  'Self-service': 'user',
  Vault: 'vault',
  Webhooks: 'admin',
} as const satisfies { readonly [tag: string]: Area };

export type Tag = keyof typeof AREAS;

type Tagged = { readonly tag: Tag; readonly who: Who };

/**
 * Every refusal by the vault is recorded in its own area, those on self-service endpoints too. Users who read their own
 * activity do not administrate.
 */
export function areaOf({ tag, who }: Tagged, service: ServiceName): Area {
  if (service === 'vault') return 'vault';
  return tag === 'Audit log' && who.includes('user') ? 'user' : AREAS[tag];
}
