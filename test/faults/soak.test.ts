import {
  processFixture,
  testForm,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { afterAll, expect, it } from 'vitest';
import { chance } from './chance.ts';
import { instance } from './instance.ts';
import { auditTargets, measured, outOfBounds, printed, report } from './soak-measures.ts';
import { SIGNED_IN_MS, type Tenant, tenantOf } from './soak-tenant.ts';
import { soak, type Written } from './soak-work.ts';

const TENANTS = 4;
/** Twice as long as a user is kept before it is deleted. */
const SHORT_MS = 8_000;
const MINUTE_MS = 60_000;
const LONG_MINUTES = 30;
const THERE_MS_MAX = 120_000;
const TEST_MS_MAX = 45 * MINUTE_MS;

const fixture = processFixture();
let sink: WebhookSink | undefined;
afterAll(() => sink?.close());

it('R17 eight clients at once get nothing but answers, and all that they did is told of', {
  timeout: TEST_MS_MAX,
}, async () => {
  sink = await webhookSink();
  const cardea = await instance(fixture, { JWT_EXPIRY: `${SIGNED_IN_MS / 1000}s` });
  const running = await cardea.start();
  const tenants: Tenant[] = [];
  for (let at = 0; at < TENANTS; at += 1) {
    tenants.push(await tenantOf(cardea.rest, `soak${at}`, sink.url));
  }
  const forMs = testForm.long ? (testForm.minutes ?? LONG_MINUTES) * MINUTE_MS : SHORT_MS;

  const measures = await measured(running.pid, cardea.management);
  const work = soak(cardea.rest, tenants, chance());
  await new Promise((resolve) => setTimeout(resolve, forMs));
  await work.stop();
  const figures = await measures.stop();
  printed(report(work.times, figures, forMs));

  expect(work.wrong).toEqual([]);
  expect(figures.poolTimeouts).toBe(0);
  expect(figures.nestedConnections).toBe(0);
  for (const { id, admin } of tenants) {
    const written = work.written.get(id) as Written;
    await untilTrue(() => missingWebhooks(id, written).length === 0, {
      deadlineMs: THERE_MS_MAX,
      what: `all webhooks of ${id} are there`,
    });
    const allThere = async () => {
      const { missing, twice } = await auditTargets(admin, written);
      return missing.length === 0 ? { twice } : undefined;
    };
    const { twice } = await untilTrue(allThere, {
      deadlineMs: THERE_MS_MAX,
      what: `all audit rows of ${id} are there`,
    });
    expect(twice).toEqual([]);
  }
  if (testForm.long) expect(outOfBounds(work.times, figures, forMs)).toEqual([]);
  expect(await running.end('SIGTERM')).toBe(0);
});

/** Ids of users whose creation or deletion was never delivered. */
function missingWebhooks(tenant: string, written: Written): readonly string[] {
  const told = new Set(
    (sink?.received ?? [])
      .filter(({ path }) => path === `/${tenant}`)
      .map(({ headers, body }) => `${headers['x-service-event']} ${JSON.parse(body).data.id}`),
  );
  const due = [
    ...[...written.usersCreated].map((id) => `user.created ${id}`),
    ...[...written.usersDeleted].map((id) => `user.deleted ${id}`),
  ];
  return due.filter((each) => !told.has(each));
}
