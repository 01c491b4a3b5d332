/** Mail gateways rewrite links and drop the part after `#`. The text of the mail still suffices to continue. */
import { get, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });

type Mail = { readonly text: string; readonly html: string; readonly link: string };
const AUTH = '/api/v1/auth';
const NEW_PASSWORD = `${PASSWORD} anew`;
const post = async (path: string, body: object) => {
  const answer = await fixture.rest.post(`${AUTH}/${path}`, body, { tenant: admin.tenantId });
  expect(answer.status).toBeLessThan(300);
};
const newMember = async () => (await fixture.register(admin.tenantId)).email;
const mailTo = async (email: string, about: RegExp) =>
  (await fixture.mail(email, about)) as unknown as Mail;

/** Each mail with a link: how it is requested, the further fields of its page, and the page's final message. */
const MAILS: readonly {
  readonly what: string;
  readonly ask: () => Promise<Mail>;
  readonly fields: { readonly [name: string]: string };
  readonly done: string;
}[] = [
  {
    what: 'the address is confirmed',
    ask: async () => mailTo(await newMember(), /Confirm/),
    fields: {},
    done: 'Your address is confirmed',
  },
  {
    what: 'somebody signs in',
    ask: async () => {
      const email = await newMember();
      await post('magic-link', { email });
      return mailTo(email, /Sign in/);
    },
    fields: {},
    done: 'The link works',
  },
  {
    what: 'a password is chosen',
    ask: async () => {
      const email = await newMember();
      await post('forgot-password', { email });
      return mailTo(email, /new password/);
    },
    fields: { new_password: NEW_PASSWORD },
    done: 'Your new password is set',
  },
  {
    what: 'an invitation is accepted',
    ask: async () => {
      const email = `guest.${Math.random().toString(36).slice(2)}@example.com`;
      const body = { email, roles: ['member'] };
      const invited = await fixture.as(admin).post('/api/v1/admin/invitations', body);
      expect(invited.status).toBe(201);
      return mailTo(email, /invited/);
    },
    fields: { password: NEW_PASSWORD, display_name: 'Guest' },
    done: 'Welcome',
  },
];

const codeIn = (text: string): string => /paste this code there: (\S+)/.exec(text)?.[1] ?? '';
const unescaped = (html: string): string =>
  html.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

/** What a person can copy from a mail whose links were rewritten. */
const COPIED: { readonly [name: string]: (mail: Mail) => string } = {
  'the link of the text': ({ link }) => link,
  'the link with marks around it': ({ link }) => `<${link}>.`,
  'the link that was broken into lines': ({ link }) => link.replace('#', '#\r\n '),
  'the code': ({ text }) => codeIn(text),
  'the address that the gateway made of the link': ({ link }) =>
    `https://gateway.example/?url=${encodeURIComponent(link)}&data=05`,
};

describe.each(MAILS)('a mail by which $what [identity-26]', ({ ask, fields, done }) => {
  it('shows the link and a code as text, also in its HTML without anchors', async () => {
    const { text, html, link } = await ask();
    expect(text).toContain(link);
    expect(link.split('#token=')[1]).toBe(codeIn(text));
    const withoutAnchors = unescaped(html.replaceAll(/<a [^>]*>/g, ''));
    expect(withoutAnchors).toContain(link);
    expect(withoutAnchors).toContain(codeIn(text));
  });

  it.each(Object.entries(COPIED))('leads on by %s', async (_, copied) => {
    const mail = await ask();
    const page = new URL(mail.link.split('#')[0] ?? '');
    const html = await navigated(fixture.baseUrl + page.pathname);
    expect(html).toContain('name="token"');
    const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1] ?? '';
    const answer = await fetch(new URL(action, fixture.baseUrl + page.pathname), {
      method: 'POST',
      headers: AS_PAGE,
      body: new URLSearchParams({ ...fields, token: copied(mail) }),
    });
    expect([answer.status, (await answer.text()).includes(done)]).toEqual([200, true]);
  });
});

const AS_PAGE = { accept: 'text/html', origin: 'http://cardea.test' };
/** `fetch` would declare that the request comes from a script. */
async function navigated(url: string): Promise<string> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: AS_PAGE }, resolve).on('error', reject);
  });
  return textOf(answer);
}
