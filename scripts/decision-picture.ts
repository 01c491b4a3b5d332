/** Takes the README's picture again: the page of a request at a fresh instance, as Chromium shows it. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { restDriver, temporaryInstance } from '@cardea/testing';
import { askingAgent, bodyOf } from './pictures/asking-agent.ts';
import { phone } from './tour/phone.ts';

const FILE = fileURLToPath(new URL('../docs/pictures/decision.png', import.meta.url));
const PASSWORD = 'correct horse battery staple';
const OWNER = { email: 'ada@example.com', password: PASSWORD, company_name: 'Analytical Engines' };
const SCENE = {
  service: 'orders',
  values: { username: 'reader', password: 'never shown' },
  agent: 'Support Bot',
  person: { email: 'grace@example.com', password: PASSWORD, display_name: 'Grace' },
  policy: {
    severity: 'high',
    ttl_seconds: 600,
    escalate: { after_seconds: 300, approver: { role: 'admin' } },
  },
} as const;
const PURPOSE = 'Order 117 was paid twice';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const grace = await phone();
if (grace === undefined) throw new Error('There is no Chromium (CHROMIUM_BINARY names one).');
const instance = await temporaryInstance(print);
try {
  const rest = restDriver({ baseUrl: instance.base });
  const owner = await bodyOf(rest.post('/api/v1/auth/signup', OWNER));
  const admin = rest.as({ tenant: owner.tenant_id, bearer: owner.access_token });
  const { asks } = await askingAgent(admin, SCENE);
  const { id } = await asks(PURPOSE);
  mkdirSync(dirname(FILE), { recursive: true });
  await grace.takesPicture(
    `${instance.base}/approve/${id}?in=${owner.tenant_id}`,
    SCENE.person,
    FILE,
  );
  print(FILE);
} finally {
  await grace.close();
  await instance.stop();
}
