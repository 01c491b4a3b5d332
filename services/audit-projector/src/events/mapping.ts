/**
 * Maps a published event to an audit row by one rule per source and type. A missing rule is a compile error. An event
 * of a type that only a newer service knows is parked, so that nothing is skipped silently.
 */
import {
  BOOTSTRAP_TENANT_ID,
  DEPLOYMENT_TENANT,
  type EVENT_CATALOGUE,
  type IntegrationEvent,
} from '@cardea/contracts';
import { uuidFrom } from '@cardea/runtime';
import type { Category, Details, Happened, Result, Rule } from './audit-row.ts';
import { targetWithinIndex, withinRow } from './details-within-row.ts';
import { approvalRules } from './mapping/approval.ts';
import { auditRules } from './mapping/audit.ts';
import { authzRules } from './mapping/authz.ts';
import { identityRules } from './mapping/identity.ts';
import { vaultRules } from './mapping/vault.ts';
import { webhooksRules } from './mapping/webhooks.ts';

const USER_AGENT_CHARS_MAX = 512;

/** A row of table `audit.events` (`docs/contract.md` 2.12), without geography. */
export type AuditRow = {
  readonly tenant_id: string;
  readonly ts: string;
  readonly id: string;
  readonly app_id: string | null;
  readonly type: string;
  readonly category: Category;
  readonly action: string;
  readonly result: Result;
  readonly actor_type: string;
  readonly actor_id: string;
  readonly actor_agent_id: string | null;
  readonly target_type: string;
  readonly target_id: string | null;
  readonly source_ip: string | null;
  readonly source_user_agent: string | null;
  readonly details: Details;
  readonly request_id: string | null;
};

export const RULES = {
  identity: identityRules,
  authz: authzRules,
  vault: vaultRules,
  approval: approvalRules,
  webhooks: webhooksRules,
  audit: auditRules,
} satisfies {
  readonly [Source in keyof typeof EVENT_CATALOGUE]: {
    readonly [Type in (typeof EVENT_CATALOGUE)[Source]['types'][number]]: unknown;
  };
};

/** No rule knows the event, so its stream is parked. */
export class NotMappable extends Error {
  override readonly name = 'NotMappable';
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Returns the row of an event, or undefined if its rule skips it. */
export function rowOf(event: IntegrationEvent): AuditRow | undefined {
  const rules: { readonly [type: string]: Rule<never> | undefined } = RULES[event.source];
  const rule = rules[event.type];
  if (rule === undefined) throw new NotMappable('unknown_event_type');
  if ('skip' in rule) return undefined;
  const said = rule.says(event as Happened<never>);
  if ('skip' in said) return undefined;
  const { context } = event.data;
  return {
    tenant_id: tenantOf(event),
    ts: event.time,
    id: event.part ? uuidFrom('audit', event.id, String(event.part)) : event.id,
    app_id: context.app_id,
    type: said.type,
    category: said.category ?? rule.category,
    action: said.action,
    result: said.result ?? 'success',
    actor_type: event.actor.type,
    actor_id: event.actor.id,
    actor_agent_id: context.agent_id,
    target_type: said.target.type,
    target_id: targetWithinIndex(said.target.id),
    source_ip: context.ip,
    source_user_agent: context.user_agent?.slice(0, USER_AGENT_CHARS_MAX).toWellFormed() ?? null,
    details: withinRow({
      ...said.details,
      ...(context.app_claimed === true ? { app_claimed: true } : {}),
    }),
    request_id: context.request_id,
  };
}

/**
 * The tenant of the row. Events of the deployment as a whole appear in the first tenant's log, which a system
 * administrator reads.
 */
const tenantOf = ({ tenantId }: IntegrationEvent): string =>
  tenantId === DEPLOYMENT_TENANT ? BOOTSTRAP_TENANT_ID : tenantId;
