/** Which fields of which registered services an agent may reach, and how two such sets compare. */
import { documented, named, Time } from '@cardea/contracts';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';

export type ServiceGrant = { readonly service_name: string; readonly fields: readonly string[] };

/** A service that an agent may reach. An entry that an approval added has an end and names that approval. */
export type AgentGrant = ServiceGrant & {
  readonly until?: string;
  readonly approval_id?: string;
};

/** Entries that approvals added to an agent count, too. */
export const SERVICES_MAX = 50;
const FIELDS_MAX = 100;
/** Stands for every field, including those added to a service later. Allowed only in grants and delegations. */
export const ANY_FIELD = '*';

const SERVICE_NAME = '^[a-z][a-z0-9_-]{1,62}$';
const SERVICE_NAMED = new RegExp(SERVICE_NAME);
export const isServiceName = (text: string): boolean => SERVICE_NAMED.test(text);

const FIELD = '^(?:\\*|[a-z][a-z0-9_]{0,63})$';
const NAMED_FIELD = '^[a-z][a-z0-9_]{0,63}$';
const ServiceGrantShape = named(
  'ServiceGrant',
  closed({
    service_name: Type.String({ pattern: SERVICE_NAME }),
    fields: Type.Array(Type.String({ pattern: FIELD }), {
      minItems: 1,
      maxItems: FIELDS_MAX,
      uniqueItems: true,
    }),
  }),
);
const agentGrantShape = named(
  'AgentServiceGrant',
  closed({
    ...ServiceGrantShape.properties,
    until: Type.Optional(Time),
    approval_id: Type.Optional(Type.String()),
  }),
);
export const AgentGrants = Type.Array(agentGrantShape, { maxItems: SERVICES_MAX });

/** The grants of a session, which name each field: 400 `services concrete`. */
export const ConcreteGrants = Type.Array(
  documented(ServiceGrantShape, {
    title: 'ConcreteServiceGrant',
    properties: {
      service_name: ServiceGrantShape.properties.service_name,
      fields: {
        ...ServiceGrantShape.properties.fields,
        items: { type: 'string', pattern: NAMED_FIELD },
      },
    },
  }),
  { maxItems: SERVICES_MAX },
);
export const ServiceGrants = Type.Array(ServiceGrantShape, { maxItems: SERVICES_MAX });

/** Merges duplicates: each service appears once, in the order of first mention. */
export function normalised(grants: readonly ServiceGrant[]): readonly ServiceGrant[] {
  const fields = new Map<string, Set<string>>();
  for (const grant of grants) {
    const known = fields.get(grant.service_name) ?? new Set();
    fields.set(grant.service_name, new Set([...known, ...grant.fields]));
  }
  return [...fields].map(([service_name, names]) => ({
    service_name,
    fields: names.has(ANY_FIELD) ? [ANY_FIELD] : [...names],
  }));
}

/** The entries that are valid at this time. */
export const grantsAt = (grants: readonly AgentGrant[], now: Date): readonly AgentGrant[] =>
  grants.filter(({ until }) => until === undefined || Date.parse(until) > now.getTime());

const isLasting = ({ until, approval_id }: AgentGrant): boolean =>
  until === undefined && approval_id === undefined;

/** Lists each service once, followed by the separate entries that approvals added. */
export const normalisedOfAgent = (grants: readonly AgentGrant[]): readonly AgentGrant[] => [
  ...normalised(grants.filter(isLasting)),
  ...grants.filter((grant) => !isLasting(grant)),
];

/** Whether each entry that names an approval is one that the agent already has. */
export const areGiven = (grants: readonly AgentGrant[], before: readonly AgentGrant[]): boolean =>
  grants
    .filter((grant) => !isLasting(grant))
    .every((grant) => before.some((one) => isSameEntry(one, grant)));

const isSameEntry = (one: AgentGrant, other: AgentGrant): boolean =>
  one.approval_id === other.approval_id &&
  one.until !== undefined &&
  other.until !== undefined &&
  Date.parse(one.until) === Date.parse(other.until) &&
  one.service_name === other.service_name &&
  isSame([one], [other]);

export const isConcrete = (grants: readonly ServiceGrant[]): boolean =>
  grants.every(({ fields }) => !fields.includes(ANY_FIELD));

/** The part of `wanted` that `granted` does not cover. */
export const missingFrom = (
  granted: readonly ServiceGrant[],
  wanted: readonly ServiceGrant[],
): readonly ServiceGrant[] => split(wanted, (service, field) => !covers(granted, service, field));

/** The part of `wanted` that `granted` covers. */
export const coveredBy = (
  granted: readonly ServiceGrant[],
  wanted: readonly ServiceGrant[],
): readonly ServiceGrant[] => split(wanted, (service, field) => covers(granted, service, field));

export const isSame = (one: readonly ServiceGrant[], other: readonly ServiceGrant[]): boolean =>
  missingFrom(one, other).length === 0 && missingFrom(other, one).length === 0;

/** Returns the grants in the form of responses. */
export const copied = (grants: readonly ServiceGrant[]) =>
  grants.map(({ service_name, fields }) => ({ service_name, fields: [...fields] }));

export const copiedOfAgent = (grants: readonly AgentGrant[]) =>
  grants.map(({ service_name, fields, until, approval_id }) => ({
    service_name,
    fields: [...fields],
    ...(until === undefined ? {} : { until }),
    ...(approval_id === undefined ? {} : { approval_id }),
  }));

function covers(granted: readonly ServiceGrant[], service: string, field: string): boolean {
  return granted.some(
    ({ service_name, fields }) =>
      service_name === service && (fields.includes(ANY_FIELD) || fields.includes(field)),
  );
}

const split = (
  grants: readonly ServiceGrant[],
  keeps: (service: string, field: string) => boolean,
): readonly ServiceGrant[] =>
  grants
    .map(({ service_name, fields }) => ({
      service_name,
      fields: fields.filter((field) => keeps(service_name, field)),
    }))
    .filter(({ fields }) => fields.length > 0);
