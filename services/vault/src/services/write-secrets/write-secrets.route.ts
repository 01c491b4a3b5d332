import { named } from '@cardea/contracts';
import { WriteContention } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { SecretStore } from '../../adapters/secret-store.ts';
import { WRITES } from '../../administration.ts';
import type { Epochs } from '../../epochs.ts';
import type { Catalog } from '../catalog.ts';
import { destroyedBy, type ServiceRecord } from '../service.ts';
import { ByName, FIELDS_MAX, unknownFields } from '../service-shape.ts';
import { FIELD_NAME_FORM } from '../version-shape.ts';
import { faultOf, type WriteSecrets, writeSecrets } from './write-secrets.ts';

type WriteSecretsDependencies = Pick<ServiceDependencies, 'command' | 'ids'> & {
  readonly catalog: Catalog;
  readonly epochs: Epochs;
  readonly secrets: SecretStore;
};

const VALUE_BYTES_MAX = 64 * 1024;
/** Enough for the maximum number of fields of the largest size, JSON-escaped. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** How often a write is encrypted again because another write took its version numbers. */
const ENCRYPTIONS_MAX = 5;

const Stage = named('SecretStage', Type.Enum(['current', 'pending']));
const body = Type.Object({
  fields: Type.Record(
    Type.String({ pattern: FIELD_NAME_FORM }),
    Type.String({ minLength: 1, maxBytes: VALUE_BYTES_MAX }),
    { minProperties: 1, maxProperties: FIELDS_MAX, additionalProperties: false },
  ),
  expected_versions: Type.Optional(
    Type.Record(Type.String({ pattern: FIELD_NAME_FORM }), Type.Integer({ minimum: 0 }), {
      maxProperties: FIELDS_MAX,
      additionalProperties: false,
    }),
  ),
  stage: Type.Optional(Stage),
});
type Body = Static<typeof body>;

export const writeSecretsRoute = (vault: WriteSecretsDependencies): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'write_secrets',
      machine: 'vault:write',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'never',
      summary: 'Write new versions of secrets; nothing ever reads them back',
      description:
        'Writes new versions of values, up to 64 KiB each; fields that are not named stay as they are. They are current at once, and live grants of the service end. With stage `pending` they are stored and handed out to nobody until they are promoted. `expected_versions` makes the write conditional. A field keeps 20 versions; a further one destroys the oldest that is not current.',
      method: 'put',
      path: '/api/v1/vault/services/{name}/secrets',
      who: WRITES,
      params: ByName,
      body,
      input: { limitBytes: BODY_BYTES_MAX },
      ok: Type.Object({
        service_name: Type.String(),
        fields: Type.Array(
          named(
            'SecretVersion',
            Type.Object({
              name: Type.String(),
              version: Type.Integer({ minimum: 1 }),
              stage: Stage,
            }),
          ),
        ),
      }),
      refusals: { unknown_field: 400, service_not_found: 404, version_conflict: 409 },
      consistency: { waitsFor: ['services'] },
    },
    async (request) => {
      for (let encryptions = 0; encryptions < ENCRYPTIONS_MAX; encryptions += 1) {
        const answer = await write(vault, request, encryptions);
        if (answer !== 'overtaken') return answer;
      }
      throw new WriteContention('others write secrets of the same service');
    },
  );

type WriteRequest = Request<{ readonly name: string }, unknown, Body>;

/** Writes the ciphertexts first and then the event. The sweeper erases a value that no event names. */
async function write(vault: WriteSecretsDependencies, request: WriteRequest, encryptions: number) {
  const { tenantId, params } = request;
  const { fields, expected_versions: expected = {}, stage = 'current' } = request.body;
  const names = Object.keys(fields);
  const record = await vault.catalog.byName(tenantId, params.name);
  if (record === undefined) return { refused: 'service_not_found' as const };
  const fault = faultOf({ secrets: names.map((name) => ({ name })), expected }, record);
  const unknown = () =>
    unknownFields(record.fields, { fields: names, expected_versions: Object.keys(expected) });
  if (fault !== undefined) return fault === 'unknown_field' ? unknown() : { refused: fault };
  const secrets = names.map((name) => ({
    name,
    version: nextVersion(record, name),
    secret_id: vault.ids.next(),
  }));
  await vault.secrets.write(
    { tenantId, ownerId: record.id },
    secrets.map((secret) => ({ ...secret, value: fields[secret.name] as string })),
  );
  const made = await vault.command(request);
  const command = { ...made, id: uuidFrom('write', made.id, String(encryptions)) };
  const wanted: WriteSecrets = {
    secrets,
    stage,
    expected,
    by: command.metadata.actor.id,
    now: command.now,
  };
  const decided = await vault.catalog.decide(params.name, command, (service) =>
    writeSecrets(wanted, service),
  );
  if (decided === undefined || !decided.accepted) {
    const ids = secrets.map(({ secret_id }) => secret_id);
    await vault.secrets.erase(tenantId, ids);
    if (decided?.accepted === false && decided.reason === 'overtaken') return 'overtaken';
    if (decided?.accepted === false && decided.reason === 'unknown_field') return unknown();
    return { refused: decided === undefined ? 'service_not_found' : refusalOf(decided.reason) };
  }
  await vault.epochs.changed(tenantId);
  await vault.secrets.erase(tenantId, destroyedBy(decided.events));
  const shown = secrets.map(({ name, version }) => ({ name, version, stage }));
  return { ok: { service_name: record.name, fields: shown }, wrote: decided.position };
}

const nextVersion = (record: ServiceRecord, name: string): number =>
  (record.fields.find((field) => field.name === name)?.last_version ?? 0) + 1;

type Final = 'service_not_found' | 'unknown_field' | 'version_conflict';
const refusalOf = (reason: Final | 'overtaken'): Final =>
  reason === 'overtaken' ? 'version_conflict' : reason;
