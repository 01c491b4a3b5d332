/** The page that lists what the audit log says about its viewer. */
import {
  ago,
  facts,
  firstRows,
  html,
  idNamedBy,
  type Markup,
  pagesOf,
  read,
  type Shown,
  tag,
} from '@cardea/pages';
import type { AuditEvent } from '../events/event-shape.ts';
import type { ListOwnActivity } from '../events/own-activity/own-activity.route.ts';
import { TEXTS, type TextKey } from './texts.ts';

type Data = {
  readonly own: { readonly events: readonly AuditEvent[]; readonly next_cursor: string | null };
};
type Page = Shown<TextKey, Data>;

const TONES = { success: 'good', failure: 'warn', denied: 'bad' } as const;

const { pageOf } = pagesOf(TEXTS);

export const activityPage = (listOwn: ListOwnActivity) =>
  pageOf({
    name: 'activity_page',
    summary: 'What was recorded about the person',
    description: 'Lists what the audit log says about the person who is signed in.',
    path: '/account/activity',
    reads: { own: read(listOwn, { url: { cursor: 'cursor' }, preset: { limit: '50' } }) },
    forms: {},
    view: (page) => ({
      title: page.frame.say('title'),
      width: 'wide',
      body: html`<p>${page.frame.say('lead')}</p>${eventList(page)}`,
    }),
    parts: { recent },
  });

const whatOf = ({ frame: { say } }: Page, { category, type }: AuditEvent) =>
  html`${say(`category.${category}`)}: <code>${type}</code>`;
const resultOf = ({ frame: { say } }: Page, { result }: AuditEvent) =>
  tag(TONES[result], say(`result.${result}`));
/** An agent that acts for the person has the person as actor. */
const whoOf = ({ frame: { say }, userId }: Page, event: AuditEvent): string => {
  if (event.actor_agent_id !== null) return say('who.agent');
  return say(event.actor_id === userId ? 'who.you' : `who.${event.actor_type}`);
};
/** Shows the id of the agent too, because the page of agents names the agent by it. */
const whoInList = (page: Page, event: AuditEvent): string | Markup => {
  const { actor_agent_id: agent } = event;
  return agent === null
    ? whoOf(page, event)
    : html`<span>${whoOf(page, event)} ${idNamedBy('/account/agents', 'names', agent)}</span>`;
};
const whereOf = ({ source_ip: ip, source_geo_city: city }: AuditEvent): string =>
  [ip, city].filter((each) => each !== null).join(', ') || '–';

function recent(page: Page) {
  const { say } = page.frame;
  const factOf = (event: AuditEvent) => ({
    label: say(`category.${event.category}`),
    value: html`<code>${event.type}</code> ${resultOf(page, event)} ${whoOf(page, event)}, ${ago(page.frame, event.timestamp, page.now)}`,
  });
  return firstRows(page.data.own.events, {
    draw: (first) => facts(first.map(factOf)),
    nothing: say('none'),
    all: { path: '/account/activity', text: say('all') },
  });
}

function eventList(page: Page) {
  const { frame, now } = page;
  return page.list<AuditEvent>({
    read: 'own',
    caption: 'caption',
    rows: page.data.own.events,
    nextCursor: page.data.own.next_cursor,
    columns: [
      { label: 'what', cell: (event) => whatOf(page, event) },
      { label: 'result', cell: (event) => resultOf(page, event) },
      { label: 'who', cell: (event) => whoInList(page, event) },
      { label: 'where', cell: whereOf },
      { label: 'time', cell: ({ timestamp }) => ago(frame, timestamp, now) },
    ],
    nothing: frame.say('none'),
  });
}
