/** Each guide of `docs/guides` is run as its reader would run it, against one instance for all. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  endsOfTables,
  freePorts,
  type KafkaServer,
  needKafka,
  processFixture,
  startKafka,
  testDatabase,
  untilRead,
} from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../../services/identity/test/chromium-fixture.ts';
import { ADMIN, type Instance, instance } from '../faults/instance.ts';
import { runGuide, type Step, stepsOf } from './guide.ts';
import { type GuideBrowser, guideBrowser } from './guide-browser.ts';
import { hasRequests } from './python.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const GUIDES = join(ROOT, 'docs/guides');
const START = 'start.md';
/** The guide whose instance publishes to Kafka. */
const KAFKA = 'subscribe-to-kafka.md';
/** Ports that the guides name. They are replaced by free ones here. */
const PORTS = ['3000', '3001'];
/** Two screens of 75 lines. */
const LINES_MAX = 160;

const database = testDatabase();
const fixture = processFixture();
let browser: GuideBrowser | undefined;
let cardea: Instance;
let tables: Client;
let tenant = '';
let ports: readonly number[] = [];

const guides = readdirSync(GUIDES).filter((name) => name.endsWith('.md'));
const textOf = (name: string): string => readFileSync(join(GUIDES, name), 'utf8');

/** The steps of a guide, with the preparations that the guide requires. */
function allSteps(name: string): readonly Step[] {
  const text = PORTS.reduce(
    (each, port, index) => each.replaceAll(port, String(ports[index])),
    textOf(name),
  );
  return [...(name === START ? [] : stepsOf(textOf(START))), ...stepsOf(text)];
}

const valuesOf = ({ base }: Instance, ofTenant: string) => ({
  REPOSITORY: ROOT,
  CARDEA: base.replace('127.0.0.1', 'localhost'),
  TENANT: ofTenant,
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
});

const noBrowser = (): never => {
  throw new Error('There is no browser.');
};

beforeAll(async () => {
  ports = await freePorts(PORTS.length);
  cardea = await instance(fixture, { DATABASE_URL: database.url });
  await cardea.start();
  tables = new Client({ connectionString: database.url });
  await tables.connect();
  tenant = (await cardea.admin()).tenant;
  if (CHROMIUM !== undefined) browser = await guideBrowser(cardea.base, ADMIN);
});
afterAll(async () => {
  await tables?.end();
  await browser?.close();
});

describe('the guides', () => {
  it.for(guides.filter((name) => name !== KAFKA))('%s does what it says', async (name, context) => {
    const steps = allSteps(name);
    const { open } = browser ?? {};
    if (open === undefined && steps.some(({ kind }) => kind === 'page'))
      context.skip('no Chromium');
    const usesRequests = steps.some(
      (step) => step.kind === 'file' && /^import .*\brequests$/m.test(step.text),
    );
    if (usesRequests && !hasRequests()) context.skip('no Python with requests');
    const deployment = { CARDEA_DATA: cardea.folder, DATABASE_URL: database.url };
    const values = valuesOf(cardea, tenant);
    const settled = () => untilRead(tables, endsOfTables(tables));
    await runGuide(steps, { values, openPage: open ?? noBrowser, deployment, settled });
  });

  it.each(guides)('%s says first what one has at the end, and stays short', (name) => {
    const [title, , first] = textOf(name).split('\n');
    expect(title).toMatch(/^# \w/);
    expect(first).toMatch(/^At the end you have /);
    expect(textOf(name).split('\n').length).toBeLessThanOrEqual(LINES_MAX);
  });

  it('are linked from the page at /, all of whose links lead somewhere', async () => {
    const home = await (await fetch(`${cardea.base}/`)).text();
    const links = [...home.matchAll(/href="([^"]+)"/g)].map(([, path]) => path);
    expect(links).toEqual(expect.arrayContaining(guides.map((name) => `/dev/guides/${name}`)));
    for (const link of links) {
      expect([link, (await fetch(`${cardea.base}${link}`)).status]).toEqual([link, 200]);
    }
  });

  it('are all in the index, under their titles', () => {
    const index = readFileSync(join(GUIDES, '../README.md'), 'utf8');
    for (const name of guides) {
      const title = textOf(name).split('\n')[0]?.slice('# '.length);
      expect(index).toContain(`[${title}](guides/${name})`);
    }
  });
});

describe('the guide of Kafka', () => {
  needKafka();
  const own = testDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'cardea-kafka-'));
  let kafka: KafkaServer | undefined;
  afterAll(async () => {
    await kafka?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it(`${KAFKA} does what it says`, async () => {
    // A separate broker, because the guide creates the topics under their real names.
    kafka = await startKafka({ dataDir: folder });
    const KAFKA_BROKERS = kafka.brokers.join(',');
    const publishing = await instance(fixture, {
      DATABASE_URL: own.url,
      KAFKA_BROKERS,
      KAFKA_REPLICATION: '1',
    });
    await publishing.start();
    const values = {
      ...valuesOf(publishing, (await publishing.admin()).tenant),
      KAFKA_BROKERS,
    };
    const deployment = { CARDEA_DATA: publishing.folder, DATABASE_URL: own.url };
    const settled = async () => {};
    await runGuide(allSteps(KAFKA), { values, openPage: noBrowser, deployment, settled });
  });
});
