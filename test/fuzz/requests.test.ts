/** Sends slightly malformed requests. Each is answered as its contract says, and nothing breaks. */
import { ContractBroken, seededRandom, testDatabase, testForm } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestCaller, testCallers } from '../security/callers.ts';
import { catalogueOf, type Entry, successOf } from '../security/catalogue.ts';
import { type Fortress, fortress } from '../security/fortress.ts';
import { type Ask, pathOf, send, titleOf } from '../security/sample.ts';
import { dice, MUTATION, mutated } from './mutations.ts';

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? (testForm.long ? 1_500 : 800));
const SEED = process.env['FUZZ_SEED'] ?? String(testForm.seed);
const AT_ONCE = 8;
/**
 * These are not mutated, because they would lock the callers out, use up a person's mails or daily exports, create a
 * tenant or publish a key each time.
 */
const SPARED = new Set([
  'change_password',
  'export_my_account',
  'resend_verification',
  'rotate_signing_keys',
  'sign_up',
]);

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
});
afterAll(async () => {
  await world?.stop();
});

type Target = Entry & { readonly ask: Ask; readonly as: TestCaller | undefined };

it(`F1 no request that is almost right breaks anything (FUZZ_SEED=${SEED})`, async () => {
  const everyone = testCallers(world);
  const targets: Target[] = [];
  for (const entry of catalogueOf(world)) {
    if (SPARED.has(entry.endpoint.contract.name)) continue;
    const as = everyone.find(({ name }) => name === entry.sample.by);
    targets.push({ ...entry, as, ask: await entry.sample.ask(world) });
  }
  const roll = dice(seededRandom(SEED));
  const broken: string[] = [];
  for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
    const shots = Array.from({ length: AT_ONCE }, () => shot(roll.pick(targets), roll));
    broken.push(...(await Promise.all(shots)).flat());
  }
  expect(broken.slice(0, 10)).toEqual([]);
});

it('F1 every endpoint answers a valid request afterwards', async () => {
  const wrong: string[] = [];
  for (const entry of catalogueOf(world)) {
    const as = testCallers(world).find(({ name }) => name === entry.sample.by);
    const ask = await entry.sample.ask(world);
    const { status, text } = await send(world, entry.endpoint, ask, {
      as,
      tenant: world.a.tenantId,
    });
    if (status !== successOf(entry)) wrong.push(`${titleOf(entry.endpoint)}: ${status} ${text}`);
  }
  expect(wrong).toEqual([]);
});

/** The driver itself throws for an answer that its contract does not allow. */
async function shot(target: Target, roll: ReturnType<typeof dice>): Promise<readonly string[]> {
  const { endpoint, as } = target;
  const sent = mutated(target.ask, world.a.tenantId, roll);
  const { query, body } = sent.ask;
  const method = endpoint.contract.method.toUpperCase();
  const what = `${titleOf(endpoint)} ${JSON.stringify(sent).slice(0, 400)}`;
  try {
    const { status, text } = await world.rest.call(method, sent.path(pathOf(endpoint, sent.ask)), {
      ...(query === undefined ? {} : { query }),
      ...(method === 'GET' || (body ?? sent.raw) === undefined ? {} : { body: sent.raw ?? body }),
      bearer: as?.credentials.bearer,
      tenant: sent.tenant,
      headers: { ...sent.ask.headers, ...as?.credentials.headers },
    });
    const faults: string[] = [];
    if (status >= 500) faults.push(`${what}: ${status} ${text}`);
    const shown = endpoint.contract.audience === 'page' ? shownBy(text) : text;
    if (status >= 400 && shown.includes(MUTATION)) faults.push(`${what}: input in ${text}`);
    if (/node:internal|\.ts:\d+/.test(text)) faults.push(`${what}: a stack in ${text}`);
    return faults;
  } catch (error) {
    return isExpected(error) ? [] : [`${what}: ${error} ${(error as Error).cause ?? ''}`];
  }
}

/** The text that a page shows, without tags and without the contents of its fields, which repeat what was typed. */
const shownBy = (page: string): string =>
  page.replaceAll(/<(option|textarea)\b[^>]*>[^<]*<\/\1>|<[^>]*>/g, '');

/**
 * The HTTP client itself refuses some headers and addresses; and a path that was changed into another one
 * may not support the method, or may match no endpoint.
 */
function isExpected(error: unknown): boolean {
  if (!(error instanceof ContractBroken)) {
    return error instanceof TypeError && !/fetch failed/.test(error.message);
  }
  return (
    / answered 405 method_not_allowed,/.test(error.message) ||
    /%(2f|5c|00)\S* answered 404 not_found,/i.test(error.message)
  );
}
