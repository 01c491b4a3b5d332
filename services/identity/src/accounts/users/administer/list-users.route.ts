/** Lists the accounts of a tenant, and returns one by id. */
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { badField, closed } from '../../../http/answers.ts';
import { emailAddress, type ToAscii } from '../../email-address.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { exists } from '../user.ts';
import { AdminUserInFull, AdminUserShape, AnyStatus, Id, READS } from './admin-answers.ts';
import { findUser, listUsers } from './admin-users.ts';

/** Minimum number of characters, since the index is built of three at a time. */
const SEARCH_MIN = 3;
const SEARCH_MAX = 100;

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database'> & {
  readonly toAscii: ToAscii;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'metadataOf'>;
};

/** Counts the characters without accents, which searches ignore. */
const searchedCharacters = (search: string): number =>
  [...search.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '')].length;

export const listUsersRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'list_users',
      machine: 'users:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'List users',
      description:
        'Lists the users of the tenant, 50 unless `limit` says otherwise. All filters must fit.',
      method: 'get',
      path: '/api/v1/admin/users',
      who: READS,
      query: Type.Object({
        ...pageQuery,
        q: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
        /** Text anywhere in the address, name or username. Case and accents are ignored. */
        search: Type.Optional(Type.String({ minLength: SEARCH_MIN, maxLength: SEARCH_MAX })),
        email: Type.Optional(Type.String({ maxLength: 254 })),
        role: Type.Optional(Type.String({ maxLength: 64 })),
        status: Type.Optional(AnyStatus),
      }),
      ok: closed({ users: Type.Array(AdminUserShape), ...pageAnswer }),
      refusals: { invalid_request: 400 },
      consistency: { reads: ['users'] },
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT, q, email, search, ...filter } = query;
      if (search !== undefined && searchedCharacters(search) < SEARCH_MIN) {
        return badField('search', 'too_short');
      }
      const addressOf = (text: string) => emailAddress(text, needs.toAscii);
      const { rows, total } = await listUsers(needs.database, {
        tenantId,
        now: needs.clock.now(),
        offset,
        limit,
        ...filter,
        // If the text is a whole address, it is searched in its stored form.
        ...(search === undefined ? {} : { search: addressOf(search) ?? search }),
        ...(q === undefined ? {} : { q: { beginning: q, address: addressOf(q) } }),
        // A text that is no address matches no user.
        ...(email === undefined ? {} : { email: addressOf(email) ?? '' }),
      });
      return { ok: { users: [...rows], total, offset, limit } };
    },
  );

export const getUserRoute = (
  needs: Pick<Dependencies, 'clock' | 'database' | 'userDirectory'>,
): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'get_user',
      machine: 'users:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'One user',
      description: 'Shows one user as administrators see them, with metadata and roles.',
      method: 'get',
      path: '/api/v1/admin/users/{id}',
      who: READS,
      params: Id,
      ok: AdminUserInFull,
      refusals: { not_found: 404 },
      consistency: { reads: ['users'] },
    },
    async ({ tenantId, params }) => {
      const user = await findUser(needs.database, {
        tenantId,
        id: params.id,
        now: needs.clock.now(),
      });
      const account = await needs.userDirectory.byId(tenantId, params.id);
      if (user === undefined || !exists(account)) return { refused: 'not_found' };
      return { ok: { ...user, ...(await needs.userDirectory.metadataOf(account)) } };
    },
  );
