/** The page that lists what its viewer decided, and what ended without a decision. */
import { utcText } from '@cardea/mail';
import { firstRows, html, type Markup, pagesOf, read, type Shown, tag } from '@cardea/pages';
import type { RequestEndpoints, ShownRequest } from '../requests/requests.module.ts';
import { linkTo, STATE_TONES, whatOf } from './parts.ts';
import { TEXTS, type TextKey } from './texts.ts';

type Data = {
  readonly own: {
    readonly requests: readonly ShownRequest[];
    readonly next_cursor: string | null;
  };
};
type Page = Shown<TextKey, Data>;

const { pageOf } = pagesOf(TEXTS);

export const decisionsPage = (listOwn: RequestEndpoints['decisions']) =>
  pageOf({
    name: 'decisions_page',
    summary: 'What the person decided',
    description: 'Lists the requests that the person decided, or that ended before.',
    path: '/account/decisions',
    reads: { own: read(listOwn, { url: { cursor: 'cursor' }, preset: { limit: '50' } }) },
    forms: {},
    view: (page) => ({
      title: page.frame.say('decided.title'),
      width: 'wide',
      body: html`<p><a href="/approve">${page.frame.say('all')}</a></p>${decidedList(page)}`,
    }),
    parts: { recent },
  });

/** The requests that are no longer pending. Pending ones are on the page of open requests. */
const closed = ({ data: { own } }: Page): readonly ShownRequest[] =>
  own.requests.filter(({ status }) => status !== 'pending');

const stateOf = ({ frame: { say } }: Page, { status }: ShownRequest): Markup =>
  tag(STATE_TONES[status], say(`state.${status}`));

function recent(page: Page): Markup {
  const { say } = page.frame;
  const itemOf = (each: ShownRequest) =>
    html`<li>${linkTo(each)}: ${whatOf(each)} ${stateOf(page, each)}</li>`;
  return firstRows(closed(page), {
    draw: (first) => html`<ul>${first.map(itemOf)}</ul>`,
    nothing: say('decided.none'),
    all: { path: '/account/decisions', text: say('decided.all') },
  });
}

const decidedList = (page: Page): Markup =>
  page.list<ShownRequest>({
    read: 'own',
    caption: 'decided.caption',
    rows: closed(page),
    nextCursor: page.data.own.next_cursor,
    columns: [
      { label: 'list.agent', cell: linkTo },
      { label: 'list.what', cell: whatOf },
      { label: 'list.state', cell: (each) => stateOf(page, each) },
      { label: 'asked_at', cell: ({ created_at }) => utcText(created_at) },
      {
        label: 'list.decided',
        cell: ({ responded_at: at }) => (at === null ? '–' : utcText(at)),
      },
    ],
    nothing: page.frame.say('decided.none'),
  });
