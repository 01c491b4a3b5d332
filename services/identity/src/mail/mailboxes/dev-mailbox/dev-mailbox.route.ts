/** The development mailbox: what would have been sent, for people and for tests. Never in production. */

import type { ServerResponse } from 'node:http';
import { type Endpoint, endpoint } from '@cardea/http';
import { escapeHtml, type ListedMail, type MailFolder } from '@cardea/mail';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';

const Message = closed({
  id: Type.String(),
  to: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
  link: Type.Union([Type.String(), Type.Null()]),
  code: Type.Union([Type.String(), Type.Null()]),
  created_at: Type.String(),
});

const COMMON = {
  tag: 'Development',
  path: '/dev/mailbox',
  who: 'anyone',
  tenant: 'none',
  area: 'user',
  refusals: {},
  internal: true,
  loopbackOnly: true,
  noStore: true,
} as const;

export const devMailboxRoutes = (folder: MailFolder): readonly Endpoint[] => [
  endpoint(
    {
      ...COMMON,
      name: 'dev_mailbox',
      summary: 'Mail that was sent',
      method: 'get',
      query: Type.Object({ to: Type.Optional(Type.String()) }),
      ok: closed({ messages: Type.Array(Message) }),
    },
    async ({ query, headers }) => {
      const messages = await folder.list(query.to);
      if (!/text\/html/i.test(headers['accept'] ?? '')) return { ok: { messages: [...messages] } };
      return { raw: page(messages) };
    },
  ),
  endpoint(
    {
      ...COMMON,
      name: 'empty_dev_mailbox',
      summary: 'Empty the mailbox',
      method: 'delete',
      ok: closed({ status: Type.Literal('emptied') }),
    },
    async () => {
      await folder.empty();
      return { ok: { status: 'emptied' as const } };
    },
  ),
];

const page = (messages: readonly ListedMail[]) => (response: ServerResponse) => {
  const rows = messages.map(({ to, subject, text, link, created_at }) => {
    const anchor =
      link === null ? '' : `<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`;
    return (
      `<article><h2>${escapeHtml(subject)}</h2><p>${escapeHtml(to)}, ${created_at}</p>` +
      `<pre>${escapeHtml(text)}</pre>${anchor}</article>`
    );
  });
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mailbox</title><h1>Mailbox</h1>${rows.join('')}</html>`;
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(html),
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  });
  response.end(html);
};
