import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  aboutService,
  carrying,
  destroying,
  fieldOf,
  nextPromotion,
  replaceField,
  type SecretVersion,
  type SecretVersionDestroyed,
  type SecretVersionWritten,
  type Service,
  type ServiceField,
  type ServiceRecord,
  VERSIONS_MAX,
} from '../service.ts';

/** Secrets that were encrypted for a version number, which another write may have taken in between. */
export type WriteSecrets = {
  readonly secrets: readonly {
    readonly name: string;
    readonly version: number;
    readonly secret_id: string;
  }[];
  readonly stage: 'current' | 'pending';
  /** The newest version of each field as the caller knows it; 0 if it was never written. */
  readonly expected: { readonly [field: string]: number };
  readonly by: string;
  readonly now: Date;
};

export type WriteEvent = SecretVersionWritten | SecretVersionDestroyed;
export type WriteRefusal =
  | 'service_not_found'
  | 'unknown_field'
  | 'version_conflict'
  /** Another write took the number, so the secrets have to be encrypted again for the next one. */
  | 'overtaken';

export function writeSecrets(
  write: WriteSecrets,
  service: Service,
): Decision<WriteEvent, WriteRefusal> {
  if (service.status !== 'registered') return refuse('service_not_found');
  let { record } = service;
  const fault = faultOf(write, record);
  if (fault !== undefined) return refuse(fault);
  const events: WriteEvent[] = [];
  for (const { name, version, secret_id } of write.secrets) {
    const field = fieldOf(record, name);
    if (field?.last_version !== version - 1) return refuse('overtaken');
    const added: SecretVersion = {
      version,
      secret_id,
      stage: write.stage,
      created_at: write.now.toISOString(),
      created_by: write.by,
      promoted_at: write.stage === 'current' ? write.now.toISOString() : null,
      promotion: write.stage === 'current' ? nextPromotion(field) : null,
    };
    const { after, destroyed } = withVersion(field, added);
    record = replaceField(record, after);
    events.push(...destroying(record, name, destroyed), {
      type: 'SecretVersionWritten',
      data: { ...aboutService(record), field: name, version, secret_id, stage: write.stage },
    });
  }
  return accept(...carrying(record, events));
}

/** Returns the faults of a write before anything is encrypted for it. */
export function faultOf(
  {
    secrets,
    expected,
  }: Pick<WriteSecrets, 'expected'> & {
    readonly secrets: readonly { readonly name: string }[];
  },
  record: ServiceRecord,
): 'unknown_field' | 'version_conflict' | undefined {
  const names = [...secrets.map(({ name }) => name), ...Object.keys(expected)];
  if (names.some((name) => fieldOf(record, name) === undefined)) return 'unknown_field';
  const isOther = ([name, version]: [string, number]) =>
    fieldOf(record, name)?.last_version !== version;
  return Object.entries(expected).some(isOther) ? 'version_conflict' : undefined;
}

/** The oldest version beyond the limit is destroyed, but never the current one. */
function withVersion(
  field: ServiceField,
  added: SecretVersion,
): { readonly after: ServiceField; readonly destroyed: readonly SecretVersion[] } {
  const stepped = field.versions.map((version) =>
    added.stage === 'current' && version.stage === 'current'
      ? { ...version, stage: 'previous' as const }
      : version,
  );
  const surplus = stepped.length + 1 - VERSIONS_MAX;
  const destroyed =
    surplus > 0 ? stepped.filter(({ stage }) => stage !== 'current').slice(0, surplus) : [];
  const versions = [...stepped.filter((version) => !destroyed.includes(version)), added];
  return { after: { ...field, last_version: added.version, versions }, destroyed };
}
