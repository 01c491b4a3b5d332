/** An address that was written through one endpoint is found through all others, in every equivalent form. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
const AUTH = '/api/v1/auth';
let bob: Account;
beforeAll(async () => {
  bob = await fixture.register(admin.tenantId);
});

/** Each endpoint that reads an address, with its response for an address that has an account. */
const READERS: { readonly [name: string]: (email: string) => Promise<string> } = {
  log_in: async (email) => told(await post('login', { email, password: PASSWORD })),
  register: async (email) => told(await post('register', { email, password: PASSWORD })),
  sign_up: async (email) =>
    told(await post('signup', { email, password: PASSWORD, company_name: 'Bob' })),
  forgot_password: async (email) => told(await post('forgot-password', { email })),
  magic_link: async (email) => told(await post('magic-link', { email })),
  send_code: async (email) => told(await post('otp/send', { email })),
  create_user: async (email) => told(await administer('/api/v1/admin/users', { email })),
  invite: async (email) =>
    told(await administer('/api/v1/admin/invitations', { email, roles: ['member'] })),
};
const post = (path: string, body: object) =>
  fixture.rest.post(`${AUTH}/${path}`, body, { tenant: admin.tenantId });
const administer = (path: string, body: object) => fixture.as(admin).post(path, body);
const told = ({
  status,
  code,
  body,
}: {
  status: number;
  code?: string | undefined;
  body: object;
}) => `${status} ${code ?? Object.keys(body).toSorted().join()}`;

const around = (email: string): readonly string[] => {
  const [local = '', domain = ''] = email.split('@');
  return [
    ` ${email}`,
    `${email}\r\n`,
    `\u00a0${email}\u3000`,
    `${email}.`,
    ` ${email}. `,
    email.toUpperCase(),
    `${local}@${domain.replace('.', '\u3002')}`,
    `${local}@${domain.replace('e', '\uff45')}`,
    `${local}\uff20${domain}`,
  ];
};
const otherwise = (email: string): readonly string[] => {
  const [local = '', domain = ''] = email.split('@');
  return [
    ...['/', '/..', '?', '#', '#z', ':25', '%2f', '\\x'].map((end) => `${email}${end}`),
    `${local}@${domain.replace('e', '%65')}`,
    `${local}@.${domain}`,
    `${email}..`,
    `${local}@127.0.0.1`,
    `${local}@0x7f000001`,
    `${local}@2130706433`,
    `${local} @${domain}`,
    `${local}@x@${domain}`,
    `${local}\uff20x@${domain}`,
  ];
};

describe.each(Object.keys(READERS))('an address that %s reads [identity-19]', (name) => {
  const read = (email: string) => READERS[name]?.(email) ?? Promise.resolve('');

  it('is the account that has it, in each form that means the same', async () => {
    for (const at of around(bob.email).keys()) {
      // Each form uses a new account, because some endpoints send mail, which is limited per address.
      const { email: own } = await fixture.register(admin.tenantId);
      await read(own);
      const email = around(own)[at] ?? '';
      const again = await read(own);
      expect({ email, told: await read(email) }).toEqual({ email, told: again });
    }
  });

  it('is refused where it is no address, and is never the account of another', async () => {
    for (const email of otherwise(bob.email)) {
      expect({ email, told: await read(email) }).toEqual({ email, told: '400 invalid_email' });
    }
  });
});

/** Endpoints that search for an address. An invalid address finds no user. */
const FINDERS: { readonly [name: string]: (email: string) => Promise<number | undefined> } = {
  '?email=': (email) => found({ email }),
  '?q=': (q) => found({ q }),
  '?search=': (search) => found({ search }),
};
const found = async (query: { readonly [name: string]: string }): Promise<number | undefined> => {
  const { body } = await fixture.as(admin).get('/api/v1/admin/users', { query });
  return body.total;
};

describe.each(Object.keys(FINDERS))('an address that %s looks for [identity-19]', (name) => {
  const find = (email: string) => FINDERS[name]?.(email);
  let zoe: string;
  beforeAll(async () => {
    const local = `zoe\u0308-${Math.random().toString(36).slice(2)}`;
    const made = await administer('/api/v1/admin/users', { email: `${local}@B\u00fccher.example` });
    expect(made.status).toBe(201);
    zoe = `${local}@B\u00fccher.example`;
    expect(made.body.email).toBe(`${local.normalize('NFC')}@xn--bcher-kva.example`);
  });

  it('finds the account that has it, in each form that means the same', async () => {
    for (const own of [zoe, bob.email]) {
      for (const email of [own, ...around(own)]) {
        expect({ email, found: await find(email) }).toEqual({ email, found: 1 });
      }
    }
  });

  it('finds nobody by what is no address of theirs', async () => {
    for (const own of [zoe, bob.email]) {
      for (const email of otherwise(own)) {
        expect({ email, found: await find(email) }).toEqual({ email, found: 0 });
      }
    }
  });
});

describe('a name that shows something else than it holds', () => {
  const deceptive = 'Bank\u202egpj.exe';
  it('is refused of people, companies, tenants, applications, agents and keys', async () => {
    const email = `${Date.now()}@example.com`;
    const agent = await administer('/api/v1/agents', { name: `agent ${email}` });
    expect(agent.status).toBe(201);
    const refusals = [
      await post('register', { email, password: PASSWORD, display_name: deceptive }),
      await post('signup', { email, password: PASSWORD, company_name: deceptive }),
      await administer('/api/v1/admin/tenants', { name: deceptive }),
      await administer('/api/v1/admin/applications', { name: deceptive, type: 'spa' }),
      await administer('/api/v1/agents', { name: deceptive }),
      await administer(`/api/v1/agents/${agent.body.id}/keys`, { name: deceptive }),
      await administer('/api/v1/api-keys', { name: deceptive, scopes: ['users:read'] }),
      await fixture.as(bob).patch('/api/v1/user/profile', { display_name: deceptive }),
    ];
    expect(refusals.map(({ status, code }) => `${status} ${code}`)).toEqual(
      refusals.map(() => '400 invalid_request'),
    );
    const joined = 'Zoë \u{1f469}\u200d\u{1f4bb}';
    const kept = await fixture.as(bob).patch('/api/v1/user/profile', { display_name: joined });
    expect(kept.body.display_name).toBe(joined);
  });
});
