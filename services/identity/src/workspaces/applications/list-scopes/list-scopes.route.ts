/** Lists the scopes that a machine can have, for owners who choose among them. */
import { MACHINE_SCOPES } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { MACHINE_SCOPE_DESCRIPTIONS } from './machine-scope-descriptions.ts';

export const listMachineScopesRoute = (): Endpoint =>
  endpoint(
    {
      name: 'list_machine_scopes',
      machine: 'applications:read',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'The scopes that a machine can have, and what each lets its holder reach',
      description:
        'Lists the scopes that an `m2m` application can have, and what each lets its holder reach.',
      tag: 'Applications',
      method: 'get',
      path: '/api/v1/admin/scopes',
      who: ['admin'],
      ok: closed({
        scopes: Type.Array(Type.String()),
        descriptions: Type.Record(Type.String(), Type.String()),
      }),
      refusals: {},
    },
    async () => ({
      ok: { scopes: [...MACHINE_SCOPES], descriptions: { ...MACHINE_SCOPE_DESCRIPTIONS } },
    }),
  );
