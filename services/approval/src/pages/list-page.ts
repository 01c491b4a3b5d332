/** The page that lists the open requests of its viewer. */
import { utcText } from '@cardea/mail';
import { firstRows, html, pagesOf, partLink, read, type Shown, tag } from '@cardea/pages';
import type { RequestEndpoints, ShownRequest } from '../requests/requests.module.ts';
import { linkTo, SEVERITY_TONES, whatOf } from './parts.ts';
import { TEXTS, type TextKey } from './texts.ts';

const { pageOf } = pagesOf(TEXTS);

export const listPage = (pending: RequestEndpoints['pending']) =>
  pageOf({
    name: 'waiting_page',
    summary: 'What waits for a decision',
    description: 'Lists the requests that wait for the person who is signed in.',
    path: '/approve',
    reads: { waiting: read(pending) },
    forms: {},
    view: (page) => ({
      title: page.frame.say('list.title'),
      width: 'wide',
      body: html`<section>${waitingList(page)}</section>
<section><h2>${page.frame.say('decided.title')}</h2>${partLink('/account/decisions', 'recent', page.frame.say('decided.all'))}</section>`,
    }),
    parts: {
      waiting: ({ frame: { say }, data: { waiting } }) => {
        const { requests } = waiting;
        const itemOf = (each: ShownRequest) => html`<li>${linkTo(each)}: ${whatOf(each)}</li>`;
        const count = String(requests.length);
        return firstRows(requests, {
          draw: (first) => html`<ul>${first.map(itemOf)}</ul>`,
          nothing: say('list.none'),
          all: { path: '/approve', text: say('list.count', { count }) },
        });
      },
    },
  });

function waitingList(page: Shown<TextKey, { waiting: { requests: readonly ShownRequest[] } }>) {
  const { say } = page.frame;
  return page.list({
    read: 'waiting',
    caption: 'list.caption',
    rows: page.data.waiting.requests,
    columns: [
      { label: 'list.agent', cell: linkTo },
      { label: 'list.what', cell: whatOf },
      {
        label: 'list.severity',
        cell: ({ severity }) => tag(SEVERITY_TONES[severity], say(`severity.${severity}`)),
      },
      { label: 'list.until', cell: ({ expires_at }) => utcText(expires_at) },
    ],
    nothing: html`${say('list.none')} ${say('list.help')}`,
  });
}
