/** The mailbox as a page: every mail with its link and code, newest first. */
import type { ListedMail } from '@cardea/mail';
import { type Html, html, type Markup, NOTHING, page } from '@cardea/pages';
import { frameOf } from '../../../pages/frame.ts';

export function mailboxPage(messages: readonly ListedMail[], to: string | undefined): Html {
  const title = to === undefined ? 'Mailbox' : `Mailbox of ${to}`;
  const body = html`<p class="muted">Mail that this instance has sent. It exists in development alone.</p>
${messages.length === 0 ? html`<p>No mail yet. Reload the page after an action that sends one.</p>` : messages.map(article)}
<p><a href="/">Start page</a></p>`;
  return page(frameOf(undefined, {}), { title, body });
}

const article = ({
  to,
  subject,
  text,
  link,
  code,
  created_at,
}: ListedMail): Markup => html`<section>
<h2>${subject}</h2>
<p class="muted">${to} · <time datetime="${created_at}">${created_at}</time></p>
${isLink(link) ? html`<p><a class="button" href="${link}">Open the link</a></p>` : NOTHING}
${code === null ? NOTHING : html`<p>Code: <span class="secret">${code}</span></p>`}
<details><summary>Text</summary><p class="mail">${text}</p></details>
</section>
`;

/** The mailbox also receives mails of other senders by SMTP. A `javascript:` link must not become a link here. */
const isLink = (link: string | null): link is string => /^https?:\/\//.test(link ?? '');
