import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  aboutService,
  carrying,
  destroying,
  fieldOf,
  type SecretVersionDestroyed,
  type Service,
  type ServiceChanged,
  type ServiceField,
  type ServiceRecord,
} from '../service.ts';

export type Change = {
  readonly description?: string | null;
  readonly default_ttl_seconds?: number;
  readonly max_ttl_seconds?: number;
  readonly enabled?: boolean;
  readonly reveal?: boolean;
  /** The complete new list of fields. A field that is left out is removed with all its versions. */
  readonly fields?: readonly { readonly name: string; readonly description?: string | null }[];
};

export type ChangeEvent = SecretVersionDestroyed | ServiceChanged;

export function change(
  wanted: Change,
  service: Service,
): Decision<ChangeEvent, 'service_not_found' | 'invalid_request'> {
  if (service.status !== 'registered') return refuse('service_not_found');
  const before = service.record;
  const { fields: wantedFields, ...plain } = wanted;
  const fields = wantedFields === undefined ? before.fields : fieldsAfter(before, wantedFields);
  const after: ServiceRecord = { ...before, ...plain, fields };
  if (after.default_ttl_seconds > after.max_ttl_seconds) return refuse('invalid_request');
  const changed = changesBetween(before, after);
  if (changed.length === 0) return accept();
  const gone = before.fields.filter(({ name }) => fieldOf(after, name) === undefined);
  return accept(
    ...carrying<ChangeEvent>(after, [
      ...gone.flatMap(({ name, versions }) => destroying(before, name, versions)),
      { type: 'ServiceChanged', data: { ...aboutService(after), changed } },
    ]),
  );
}

const fieldsAfter = (
  before: ServiceRecord,
  wanted: NonNullable<Change['fields']>,
): readonly ServiceField[] =>
  wanted.map(({ name, description }) => {
    const field = fieldOf(before, name) ?? { name, last_version: 0, versions: [] };
    const kept = 'description' in field ? field.description : null;
    return { ...field, description: description === undefined ? kept : description };
  });

const COMPARED = [
  'description',
  'default_ttl_seconds',
  'max_ttl_seconds',
  'enabled',
  'reveal',
] as const;

function changesBetween(before: ServiceRecord, after: ServiceRecord): readonly string[] {
  const shape = ({ fields }: ServiceRecord) =>
    JSON.stringify(fields.map(({ name, description }) => [name, description]));
  return [
    ...COMPARED.filter((key) => before[key] !== after[key]),
    ...(shape(before) === shape(after) ? [] : ['fields']),
  ];
}
