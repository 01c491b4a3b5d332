/**
 * Makes the previously current version of several fields current again, in one step. The version that it replaces
 * becomes pending, so a second rollback goes one step further back.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { currentFault, type ExpectedCurrent } from '../current-versions.ts';
import {
  aboutService,
  carrying,
  currentOf,
  fieldOf,
  makeCurrent,
  replaceField,
  type SecretRolledBack,
  type SecretVersion,
  type Service,
  type ServiceField,
  type ServiceRecord,
} from '../service.ts';

export type RollBack = {
  readonly fields: readonly string[];
  readonly expected: ExpectedCurrent;
  readonly now: Date;
};
export type RollBackRefusal =
  | 'service_not_found'
  | 'unknown_field'
  | 'version_conflict'
  | 'nothing_to_roll_back';

export function rollBack(
  { fields, expected, now }: RollBack,
  service: Service,
): Decision<SecretRolledBack, RollBackRefusal> {
  if (service.status !== 'registered') return refuse('service_not_found');
  let { record } = service;
  const fault = currentFault(record, fields, expected);
  if (fault !== undefined) return refuse(fault);
  const events: SecretRolledBack[] = [];
  for (const name of fields) {
    const field = fieldOf(record, name);
    const previous = field && currentBefore(field);
    if (field === undefined || previous === undefined) return refuse('nothing_to_roll_back');
    const { version, secret_id } = previous;
    const replaced = currentOf(field)?.version ?? null;
    record = replaceField(record, makeCurrent(field, version, { now, replacedStage: 'pending' }));
    events.push({
      type: 'SecretRolledBack',
      data: { ...aboutService(record), field: name, version, secret_id, replaced },
    });
  }
  return accept(...carrying(record, events));
}

/** Names of the fields that have no previous version. */
export const withoutPrevious = (record: ServiceRecord, names: readonly string[]) =>
  names.filter((name) => {
    const field = fieldOf(record, name);
    return field === undefined || currentBefore(field) === undefined;
  });

/** The previous version that was current last. */
const currentBefore = ({ versions }: ServiceField): SecretVersion | undefined =>
  versions
    .filter(({ stage }) => stage === 'previous')
    .toSorted((a, b) => (b.promotion ?? 0) - (a.promotion ?? 0))[0];
