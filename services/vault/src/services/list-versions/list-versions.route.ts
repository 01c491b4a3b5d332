import { NullableTime, named, Time } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import { READS } from '../../administration.ts';
import type { Catalog } from '../catalog.ts';
import { fieldOf } from '../service.ts';
import { ByField } from '../version-shape.ts';

/** Reads the stream, not a table, so the list is never older than the last response to a write. */
export const listVersionsRoute = (vault: { readonly catalog: Catalog }): Endpoint =>
  endpoint(
    {
      tag: 'Vault',
      name: 'list_secret_versions',
      machine: 'vault:read',
      summary: 'The versions of a secret, newest first; destroyed ones are not listed',
      description:
        "Lists the versions of a field's value, newest first, with their stages and without the values. Destroyed versions are not listed.",
      method: 'get',
      path: '/api/v1/vault/services/{name}/secrets/{field}/versions',
      who: READS,
      access: { class: 'things', applicationScope: 'roles' },
      params: ByField,
      ok: Type.Object({
        versions: Type.Array(
          named(
            'ListedSecretVersion',
            Type.Object({
              version: Type.Integer({ minimum: 1 }),
              stage: named('ListedSecretStage', Type.Enum(['pending', 'current', 'previous'])),
              created_at: Time,
              created_by: Type.String(),
              /** When it last became current. Null if it never did. */
              promoted_at: NullableTime,
            }),
          ),
        ),
      }),
      refusals: { service_not_found: 404, unknown_field: 404 },
    },
    async ({ tenantId, params }) => {
      const record = await vault.catalog.byName(tenantId, params.name);
      if (record === undefined) return { refused: 'service_not_found' };
      const field = fieldOf(record, params.field);
      if (field === undefined) return { refused: 'unknown_field' };
      const versions = field.versions.toReversed().map((each) => {
        const { version, stage, created_at, created_by, promoted_at } = each;
        return { version, stage, created_at, created_by, promoted_at };
      });
      return { ok: { versions } };
    },
  );
