/** All users of a tenant as lines of JSON; the last line says how many there were. */
import type { ServerResponse } from 'node:http';
import { accept } from '@cardea/event-store';
import { type Endpoint, endpoint } from '@cardea/http';
import { answerExport, exportLimit, type ServiceDependencies, sendExport } from '@cardea/service';
import Type from 'typebox';
import { COMMON, READS } from '../users/administer/admin-answers.ts';
import { countUsers, pagesOfUsers } from './pages-of-users.ts';
import { userExports } from './user-export.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'cache' | 'clock' | 'command' | 'database' | 'log' | 'streams'
>;

export function exportUsersRoute(needs: Dependencies): Endpoint {
  const slots = exportLimit({ ...needs, family: 'users-export' });
  return endpoint(
    {
      ...COMMON,
      name: 'export_users',
      machine: 'users:read',
      class: 'things',
      applicationScope: 'roles',
      summary: 'All users as lines of JSON',
      description:
        'Answers the users of the tenant as the list shows them, newest first, one on each line. The last line is `{"end": true, "count": n}`: a file without it was cut. Two exports of a tenant run at once, for five minutes each at most. Each is in the audit log.',
      method: 'get',
      path: '/api/v1/admin/users/export',
      who: READS,
      ok: Type.String(),
      okMediaType: 'application/x-ndjson',
      refusals: { rate_limited: 429 },
      reads: ['users'],
    },
    async (request) => {
      const { tenantId, signal } = request;
      return answerExport(slots, tenantId, async () => {
        const command = await needs.command(request);
        const rows = await countUsers(needs.database, tenantId);
        // Recorded before the first user leaves: an export that breaks off has shown something too.
        await needs.streams.decideOn(userExports, command.id, command, (_state, revision) =>
          revision > 0 ? accept() : accept({ type: 'UsersExported', data: { rows } }),
        );
        return (response) => send(needs, response, { tenantId, signal });
      });
    },
  );
}

/** A response that takes too long loses its socket, and so does not have the last line. */
function send(
  needs: Pick<Dependencies, 'clock' | 'database' | 'log'>,
  response: ServerResponse,
  wanted: { readonly tenantId: string; readonly signal: AbortSignal },
): Promise<void> {
  response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8');
  response.setHeader('Content-Disposition', 'attachment; filename="users.ndjson"');
  response.setHeader('Cache-Control', 'no-store');
  return sendExport(needs, response, {
    text: linesOf(needs, wanted.tenantId),
    signal: wanted.signal,
    brokenOff: { fields: {}, message: 'an export of users took too long and was broken off' },
  });
}

async function* linesOf(
  { database, clock }: Pick<Dependencies, 'clock' | 'database'>,
  tenantId: string,
): AsyncGenerator<string, void> {
  let count = 0;
  for await (const page of pagesOfUsers(database, { tenantId, now: clock.now() })) {
    count += page.length;
    yield page.map((user) => `${JSON.stringify(user)}\n`).join('');
  }
  yield `${JSON.stringify({ end: true, count })}\n`;
}
