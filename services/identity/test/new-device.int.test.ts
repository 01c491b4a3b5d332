/** A sign-in from a new device is reported by mail, and the session list shows locations. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase, untilTrue, writeGeoDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Account,
  type IdentityFixture,
  identityFixture,
  PASSWORD,
} from './identity-fixture.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const LONDON = '81.2.69.142';
const LEEDS = '81.2.70.1';
const BERLIN = '2a02:4780::1';

const database = testDatabase();
let folder: string;
let fixture: IdentityFixture;
let admin: Account;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardea-geo-'));
  const path = join(folder, 'city.mmdb');
  await writeGeoDatabase(path, [
    { network: '81.2.69.0/24', city: 'London', region: 'England', country: 'GB' },
    { network: '81.2.70.0/24', city: 'Leeds', region: 'England', country: 'GB' },
    { network: '2a02:4780::/32', city: 'Berlin', country: 'DE' },
  ]);
  fixture = await identityFixture(database.url, {
    GEOIP_DB_PATH: path,
    TRUSTED_PROXIES: '127.0.0.0/8,::1/128',
    RATE_LIMIT_FACTOR: '1000',
  });
  admin = await fixture.signUp();
});
afterAll(async () => {
  await fixture?.stop();
  await rm(folder, { recursive: true, force: true });
});

type From = { readonly agent: string; readonly ip: string };
const headersOf = ({ agent, ip }: From) => ({ 'user-agent': agent, 'x-forwarded-for': ip });
const logIn = async ({ email, tenantId }: Account, from: From) => {
  const body = { email, password: PASSWORD };
  const answer = await fixture.rest.post('/api/v1/auth/login', body, {
    tenant: tenantId,
    headers: headersOf(from),
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const newcomer = async (name: string): Promise<Account> => {
  const email = `${name}@example.com`;
  const answer = await fixture.rest.post(
    '/api/v1/auth/register',
    { email, password: PASSWORD },
    { tenant: admin.tenantId, headers: headersOf({ agent: FIREFOX, ip: LONDON }) },
  );
  expect(answer.status, answer.text).toBe(201);
  const { user_id: userId, access_token: access, refresh_token: refresh } = answer.body;
  return { tenantId: admin.tenantId, userId, email, access, refresh };
};
const noticesTo = async ({ email }: Account): Promise<readonly { text: string }[]> => {
  const { body } = await fixture.rest.get('/dev/mailbox', { query: { to: email } });
  return body.messages.filter(({ subject }: { subject: string }) => /new sign-in/i.test(subject));
};
const notices = (account: Account, count: number) =>
  untilTrue(
    async () => {
      const found = await noticesTo(account);
      return found.length === count ? found : undefined;
    },
    { what: `${count} notices` },
  );

describe('a sign-in from elsewhere', () => {
  it('is told by mail: a new device, and a new country; not the usual ones, nor another city', async () => {
    const ann = await newcomer('ann-away');
    await logIn(ann, { agent: FIREFOX, ip: LONDON });
    await logIn(ann, { agent: FIREFOX, ip: LEEDS });
    await logIn(ann, { agent: IPHONE, ip: LONDON });
    const [first] = await notices(ann, 1);
    expect(first?.text).toContain('Device: Safari, iOS\nPlace: London, GB\n');
    expect(first?.text).not.toMatch(/81\.2|#token/);
    await logIn(ann, { agent: IPHONE, ip: LEEDS });
    await logIn(ann, { agent: FIREFOX, ip: BERLIN });
    const told = await notices(ann, 2);
    const fromBerlin = 'Device: Firefox, Linux\nPlace: Berlin, DE\n';
    expect(told.filter(({ text }) => text.includes(fromBerlin))).toHaveLength(1);
  });

  it('is told a few times a day, whatever happens', async () => {
    const ben = await newcomer('ben-away');
    const agentOf = (version: number) =>
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Brand${version}/1.0`;
    for (let device = 0; device < 5; device += 1) {
      const ip = `93.184.${device}.1`;
      await logIn(ben, { agent: agentOf(device), ip });
      // A notice that is still waiting would be replaced by the next one.
      await notices(ben, device + 1);
    }
    const before = await fixture.head();
    await logIn(ben, { agent: IPHONE, ip: '93.184.200.1' });
    // The notice of a later event shows that the policy has processed the sign-in.
    const cleo = await newcomer('cleo-away');
    await logIn(cleo, { agent: IPHONE, ip: LONDON });
    await notices(cleo, 1);
    expect(await noticesTo(ben)).toHaveLength(5);
    const types = (await fixture.eventsSince(before)).map(({ type }) => type);
    expect(types.filter((type) => type === 'MailRequested')).toHaveLength(2);
  });

  it('shows sessions with their place, and none for an address of no place', async () => {
    const dan = await newcomer('dan-away');
    await logIn(dan, { agent: IPHONE, ip: '10.1.2.3' });
    const sessions = await untilTrue(async () => {
      const { body } = await fixture.as(dan).get('/api/v1/me/sessions');
      return body.count === 2 ? body.sessions : undefined;
    });
    const [phone, laptop] = sessions;
    expect(phone).toMatchObject({ ip_address: '10.1.2.3', os: 'iOS' });
    expect(phone).not.toHaveProperty('location');
    expect(laptop.location).toEqual({ city: 'London', region: 'England', country: 'GB' });
  });
});
