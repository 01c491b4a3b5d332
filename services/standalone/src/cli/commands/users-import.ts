/** Imports the users of another product with the hashes of their passwords. */
import { randomUUID } from 'node:crypto';
import { checkImport } from '@cardea/identity';
import { type Call, type Command, done, textOf } from '../command.ts';
import { WrongUsage } from '../failures.ts';
import { aspNetUsers } from '../user-import/aspnet.ts';
import { djangoUsers } from '../user-import/django.ts';
import { exportedUsers } from '../user-import/export-lines.ts';
import { textOf as textOfFile } from '../user-import/file-text.ts';
import { firebaseProject, firebaseUsers } from '../user-import/firebase.ts';
import type { ReadForeignUsers } from '../user-import/foreign-user.ts';
import { importAccess } from '../user-import/import-access.ts';
import { importUsers, type Location, type Tally } from '../user-import/import-users.ts';
import { keycloakUsers } from '../user-import/keycloak.ts';
import { sendPage } from '../user-import/send-page.ts';

const FORMATS: { readonly [name: string]: (call: Call) => ReadForeignUsers } = {
  django: ({ options }) => djangoUsers({ areVerified: options['email-verified'] === true }),
  aspnet: () => aspNetUsers({ now: new Date() }),
  firebase: (call) => firebaseUsers(firebaseProject(call.env, textOf(call, 'hash-config'))),
  keycloak: () => keycloakUsers,
  ndjson: () => exportedUsers,
};
const NAMES = Object.keys(FORMATS);

export const usersImport: Command = {
  name: 'users import',
  summary:
    'Imports the users of another product with the hashes of their passwords, through the API; without --apply it only says what would become of them.',
  example: 'users import --from django users.json',
  words: ['<file>'],
  options: {
    from: { type: 'string', value: 'FORMAT', help: NAMES.join(', ') },
    apply: { type: 'boolean', help: 'import them; repeat it after a stop' },
    'hash-config': {
      type: 'string',
      value: 'FILE',
      help: 'firebase: the hash parameters of the project, or CARDEA_FIREBASE_HASH_CONFIG',
    },
    'email-verified': { type: 'boolean', help: 'django: all addresses are proven' },
  },
  run: async (call) => {
    const [file = ''] = call.words;
    const from = textOf(call, 'from') ?? '';
    const format = Object.hasOwn(FORMATS, from) ? FORMATS[from] : undefined;
    if (format === undefined) throw new WrongUsage(`--from takes ${NAMES.join(', ')}`);
    const applies = call.options['apply'] === true;
    const read = format(call);
    // Missing access is refused at once, before a long file is read.
    const send = applies ? sendPage(importAccess(call.env)) : undefined;
    const say = ({ line, user }: Location, code: string) =>
      call.tell(`line ${line}, user ${user}: ${code}`, { line, user, code });
    const tally = await importUsers(read(textOfFile(file)), {
      check: checkImport,
      send,
      runId: randomUUID(),
      refuse: say,
      note: say,
      signal: call.signal,
    });
    return done(linesOf(tally, applies), applies ? tally : couldBe(tally));
  },
};

function linesOf(tally: Tally, applies: boolean): readonly string[] {
  const { users, imported, already_there: there, refused, second_factors_left: left } = tally;
  const lines = applies
    ? [`${users} users: ${imported} imported, ${there} were there before, ${refused} refused.`]
    : [
        `${users} users: ${imported} can be imported, ${refused} refused.`,
        'Nothing was sent. Add --apply to import them.',
      ];
  return left === 0 ? lines : [...lines, `${left} of them had a second factor that stays there.`];
}

const couldBe = ({ users, imported: importable, refused, second_factors_left }: Tally) => ({
  users,
  importable,
  refused,
  second_factors_left,
});
