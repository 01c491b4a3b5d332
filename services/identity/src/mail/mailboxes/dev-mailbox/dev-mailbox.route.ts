/**
 * The development mailbox shows the mails that would have been sent, to people and to tests. It does not exist in
 * production.
 */
import { type Endpoint, endpoint } from '@cardea/http';
import type { MailFolder } from '@cardea/mail';
import { send, wantsPage } from '@cardea/pages';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { mailboxPage } from './mailbox-page.ts';

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
  refusals: {},
  audience: 'loopback',
  response: { isSecret: true },
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
      if (!wantsPage(headers)) return { ok: { messages: [...messages] } };
      return { raw: send(200, mailboxPage(messages, query.to)) };
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
