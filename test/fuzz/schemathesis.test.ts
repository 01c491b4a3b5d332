/** The OpenAPI document agrees with the service: what one allows the other accepts, and the reverse. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase, testForm } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Fortress, fortress } from '../security/fortress.ts';
import { type Finding, type Played, play, schemathesisCommand } from './schemathesis.ts';
import { isUnsayable } from './unsayable.ts';

/** Requests in addition to about forty for the boundaries of each operation's fields, which are in every run. */
const REQUESTS_PER_OPERATION = testForm.long ? 100 : 3;
const RUN_MS_MAX = 2 * 60 * 60 * 1000;
const FINDINGS_SHOWN_MAX = 40;
/** These operations end the credentials of all callers, so they come last, in this order. */
const LAST = ['changePassword', 'rotateSigningKeys'];
/** These operations could remove the caller's own role, so they are called with an API key, which has none. */
const ACCOUNTS: ReadonlySet<string> = new Set(['createUser', 'updateUser', 'deleteUser']);
const MISSING =
  'no schemathesis: pip install "schemathesis>=4,<5", or SCHEMATHESIS_BINARY names its path';

const command = schemathesisCommand();
const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'cardea-schemathesis-'));
let world: Fortress | undefined;
beforeAll(async () => {
  if (command === undefined) return;
  world = await fortress({ databaseUrl: database.url, env: { JWT_EXPIRY: '24h' } });
});
afterAll(async () => {
  await world?.stop();
  // The reports are kept if somebody wants to read what was sent.
  if (process.env['SCHEMATHESIS_KEEP'] === undefined) rmSync(folder, { recursive: true });
});

it(`F7 the document is as strict as the service (TEST_SEED=${testForm.seed})`, {
  timeout: RUN_MS_MAX,
}, async (context) => {
  if (command === undefined || world === undefined) return context.skip(MISSING);
  const { rest, baseUrl, a, systemAdmin } = world;
  const document = (await rest.get('/openapi.json')).body;
  const groups = groupsOf(document);
  const common = {
    ...{ command, folder, document, url: baseUrl, seed: testForm.seed },
    requestsPerOperation: REQUESTS_PER_OPERATION,
  };
  const tenant = { 'X-Service-Tenant': a.tenantId };
  const { agent, keys } = a.agentsAndKeys;
  const { key, capability } = agent;
  const asAgent = { ...tenant, Authorization: `Bearer ${key}`, 'X-Service-Token': capability };
  const asKey = { ...tenant, Authorization: `Bearer ${keys.write}` };
  const asUser = { ...tenant, Authorization: `Bearer ${systemAdmin?.access}` };
  const played: Played[] = [
    await play({ ...common, name: 'agents', operationIds: groups.agents, headers: asAgent }),
    // Runs before the operations for users, which revoke keys.
    await play({ ...common, name: 'accounts', operationIds: groups.accounts, headers: asKey }),
    await play({ ...common, name: 'users', operationIds: groups.users, headers: asUser }),
  ];
  for (const id of LAST) {
    played.push(await play({ ...common, name: id, operationIds: [id], headers: asUser }));
  }
  tell(played);
  const findings = played.flatMap((one) => one.findings).filter((one) => !isUnsayable(one));
  expect({
    found: kindsOf(findings),
    unreached: played.flatMap((one) => one.unreached),
    unanswered: played.flatMap((one) => one.unanswered),
  }).toEqual({ found: [], unreached: [], unanswered: [] });
});

type Operation = { readonly operationId: string; readonly 'x-callers'?: readonly string[] };
type Document = {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
};

const USERS = ['user', 'admin', 'owner', 'system_admin'];

/** Operations grouped by caller. */
function groupsOf({ paths }: Document) {
  const aimed = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ operationId }) => !LAST.includes(operationId));
  const isForUsers = ({ 'x-callers': callers = USERS }: Operation): boolean =>
    callers.some((caller) => USERS.includes(caller));
  const isOnAccounts = ({ operationId }: Operation): boolean => ACCOUNTS.has(operationId);
  const ids = (of: readonly Operation[]) => of.map(({ operationId }) => operationId);
  return {
    agents: ids(aimed.filter((one) => !isForUsers(one))),
    users: ids(aimed.filter((one) => isForUsers(one) && !isOnAccounts(one))),
    accounts: ids(aimed.filter(isOnAccounts)),
  };
}

/** One finding of each kind. */
function kindsOf(findings: readonly Finding[]): readonly string[] {
  const kinds = new Map<string, string>();
  for (const { operation, check, status, code, fault, what } of findings) {
    const kind = `${operation} ${check} ${status} ${code} ${fault ?? ''}`;
    if (!kinds.has(kind)) kinds.set(kind, `${kind}: ${what}`);
  }
  return [...kinds.values()].slice(0, FINDINGS_SHOWN_MAX);
}

function tell(played: readonly Played[]): void {
  const requests = played.reduce((sum, one) => sum + one.requests, 0);
  const unsayable = played.flatMap(({ findings }) => findings).filter(isUnsayable);
  const kinds = new Set(unsayable.map(({ code, fault }) => `${code} ${fault ?? ''}`.trim()));
  console.log(
    `${requests} requests; ${unsayable.length} refused for what no schema can say: ${[...kinds].sort().join(', ')}`,
  );
}
