/** Whether a session may have fields of a service. It is decided again at every vend, approved or not. */
import type { Capability } from '@cardea/auth';
import type { Facts, StoredAgent } from '../../identity-facts/fact-rows.ts';
import { isDisabled } from '../../identity-facts/identity-facts.ts';
import { currentOf, fieldOf, type ServiceRecord } from '../../services/services.module.ts';
import type { GrantedField } from '../grant-key.ts';

export type Wanted = {
  readonly service: ServiceRecord;
  /** Sorted and without duplicates. */
  readonly fields: readonly string[];
  readonly capability: Capability;
  /** Whether the revocation list in the shared cache has the session's user as disabled. */
  readonly userRevoked: boolean;
  readonly now: Date;
};

/** Fields that the token or the service itself denies. No later event from identity can change that. */
export function deniedForGood({ service, fields, capability, userRevoked }: Wanted): string[] {
  if (userRevoked) return [...fields];
  const allowed = new Set(
    capability.grants
      .filter((grant) => grant.service === service.name)
      .flatMap(({ fields: f }) => f),
  );
  return fields.filter((name) => !allowed.has(name) || fieldOf(service, name) === undefined);
}

/** Fields that the stored copies of identity's facts deny. These copies may lag. */
export function deniedByNews(wanted: Wanted, facts: Facts): string[] {
  const { fields, capability, now } = wanted;
  if (isDisabled(facts.userStatus)) return [...fields];
  const { agent } = facts;
  if (agent === undefined) return [];
  const isNewer = isNewerThan(agent, capability);
  return fields.filter((name) => {
    const end = endOf(wanted, agent, name);
    // An older row only proves that an approval gave the field and that its time is over.
    return end === undefined ? isNewer : end <= now.getTime();
  });
}

/** Returns the earliest end of the fields that approvals gave. Undefined if approvals gave none of them. */
export function firstEnd(wanted: Omit<Wanted, 'now' | 'capability' | 'userRevoked'>, facts: Facts) {
  const { agent } = facts;
  if (agent === undefined) return undefined;
  const ends = wanted.fields.flatMap((name) => endOf(wanted, agent, name) ?? []);
  const first = Math.min(...ends);
  return Number.isFinite(first) ? new Date(first) : undefined;
}

/**
 * Returns the latest end of the entries that cover the field. Infinite if an entry has no end; undefined if no entry
 * covers it.
 */
function endOf(
  { service }: Pick<Wanted, 'service'>,
  { services }: StoredAgent,
  name: string,
): number | undefined {
  const ends = services
    .filter((each) => each.service_name === service.name)
    .filter(({ fields }) => fields.includes('*') || fields.includes(name))
    .map(({ until }) => (until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)));
  return ends.length === 0 ? undefined : Math.max(...ends);
}

const MS = 1_000;
/** The newer of the token's scope and the agent's scope counts. A token's time has whole seconds only. */
const isNewerThan = ({ changed_at }: StoredAgent, { issuedAt }: Capability): boolean =>
  changed_at === 'now' || Math.floor(changed_at.getTime() / MS) >= issuedAt;

/** The versions to issue, or the names of fields that have none. */
export function currentVersions(
  service: ServiceRecord,
  fields: readonly string[],
): { readonly set: readonly GrantedField[] } | { readonly unset: readonly string[] } {
  const found = fields.map((name) => {
    const field = fieldOf(service, name);
    const current = field === undefined ? undefined : currentOf(field);
    return { name, current };
  });
  const unset = found.flatMap(({ name, current }) => (current === undefined ? [name] : []));
  if (unset.length > 0) return { unset };
  return {
    set: found.flatMap(({ name, current }) =>
      current === undefined
        ? []
        : [{ name, version: current.version, secret_id: current.secret_id }],
    ),
  };
}
