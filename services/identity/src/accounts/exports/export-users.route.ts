/** Exports all users of a tenant as JSON lines. The last line has their number. */
import type { ServerResponse } from 'node:http';
import { accept } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { answerExport, exportLimit, type ServiceDependencies, sendExport } from '@cardea/service';
import Type from 'typebox';
import type { UserDirectory } from '../user-directory.ts';
import { READS } from '../users/administer/admin-answers.ts';
import { objectionToHashes, withHashes } from './hashes-in-export.ts';
import { countUsers, pagesOfLines, pagesOfUsers } from './pages-of-users.ts';
import { userExports } from './user-export.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'authenticator' | 'cache' | 'clock' | 'command' | 'database' | 'log' | 'streams'
> & { readonly userDirectory: Pick<UserDirectory, 'byId' | 'passwordHashOf'> };

const PASSWORD_HASH = 'password_hash';

export function exportUsersRoute(needs: Dependencies): Endpoint {
  const slots = exportLimit({ ...needs, family: 'users-export' });
  return endpoint(
    {
      tag: 'Administration',
      name: 'export_users',
      machine: 'users:read',
      access: { class: 'things', applicationScope: 'roles' },
      summary: 'All users as lines of JSON',
      description:
        'Answers the users of the tenant as the list shows them, newest first, one on each line. The last line is `{"end": true, "count": n}`: a file without it was cut. Two exports of a tenant run at once, for five minutes each at most. Each is in the audit log. `include=password_hash` adds the stored hash of each password, or null, as `POST /api/v1/admin/users/import` takes it: for the highest role of the tenant alone (`owner`, in the deployment\'s own tenant `system_admin`), in person and with a sign-in of the last 10 minutes.',
      method: 'get',
      path: '/api/v1/admin/users/export',
      who: READS,
      query: Type.Object({ include: Type.Optional(Type.Literal(PASSWORD_HASH)) }),
      ok: Type.String(),
      response: { mediaType: 'application/x-ndjson' },
      refusals: {
        step_up_required: 401,
        forbidden: 403,
        insufficient_scope: 403,
        rate_limited: 429,
      },
      consistency: { reads: ['users'] },
    },
    async (request) => {
      const { tenantId, principal, query } = request;
      const hasHashes = query.include === PASSWORD_HASH;
      if (hasHashes) {
        const caller = { principal, tenantId, now: needs.clock.now() };
        const objection = await objectionToHashes(needs.authenticator, caller);
        if (objection !== undefined) return objection;
      }
      return answerExport(slots, tenantId, async () => {
        const command = await needs.command(request);
        const rows = await countUsers(needs.database, tenantId);
        const exported = hasHashes ? { rows, included: [PASSWORD_HASH] as const } : { rows };
        // The export is recorded before the first line is sent, because an interrupted export has disclosed data too.
        await needs.streams.decideOn(userExports, command.id, command, (_state, revision) =>
          revision > 0 ? accept() : accept({ type: 'UsersExported', data: exported }),
        );
        return (response) => send(needs, response, { tenantId, request, hasHashes });
      });
    },
  );
}

type Wanted = { readonly tenantId: string; readonly hasHashes: boolean };

/** A response that takes too long is disconnected, so it lacks the last line. */
function send(
  needs: Pick<Dependencies, 'clock' | 'database' | 'log' | 'userDirectory'>,
  response: ServerResponse,
  wanted: Wanted & {
    readonly request: Pick<Request<unknown, unknown, unknown>, 'signal' | 'nextPart'>;
  },
): Promise<void> {
  response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8');
  response.setHeader('Content-Disposition', 'attachment; filename="users.ndjson"');
  response.setHeader('Cache-Control', 'no-store');
  return sendExport(needs, response, {
    text: linesOf(needs, wanted),
    request: wanted.request,
    brokenOff: { fields: {}, message: 'an export of users took too long and was broken off' },
  });
}

async function* linesOf(
  { database, clock, userDirectory }: Pick<Dependencies, 'clock' | 'database' | 'userDirectory'>,
  { tenantId, hasHashes }: Wanted,
): AsyncGenerator<string | Buffer, void> {
  let count = 0;
  const of = { tenantId, now: clock.now() };
  if (hasHashes) {
    for await (const page of pagesOfUsers(database, of)) {
      count += page.length;
      const lines = await withHashes(userDirectory, { tenantId, page });
      yield lines.map((user) => `${JSON.stringify(user)}\n`).join('');
    }
  } else {
    for await (const page of pagesOfLines(database, of)) {
      count += page.count;
      yield page.bytes;
    }
  }
  yield `${JSON.stringify({ end: true, count })}\n`;
}
