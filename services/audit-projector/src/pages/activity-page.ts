/** The page that lists what the audit log says about its viewer. */
import { ago, facts, html, pagesOf, read, type Shown, tag } from '@cardea/pages';
import type { AuditEvent } from '../events/event-shape.ts';
import type { ListOwnActivity } from '../events/own-activity/own-activity.route.ts';
import { TEXTS, type TextKey } from './texts.ts';

type Data = {
  readonly own: { readonly events: readonly AuditEvent[]; readonly next_cursor: string | null };
};
type Page = Shown<TextKey, Data>;

/** The most rows when the list is part of another page. */
const PART_ROWS_MAX = 5;
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
const whereOf = ({ source_ip: ip, source_geo_city: city }: AuditEvent): string =>
  [ip, city].filter((each) => each !== null).join(', ') || '–';

function recent(page: Page) {
  const { say } = page.frame;
  const { events } = page.data.own;
  if (events.length === 0) return html`<p class="muted">${say('none')}</p>`;
  const rows = events.slice(0, PART_ROWS_MAX).map((event) => ({
    label: page.frame.say(`category.${event.category}`),
    value: html`<code>${event.type}</code> ${resultOf(page, event)} ${whoOf(page, event)}, ${ago(page.frame, event.timestamp, page.now)}`,
  }));
  return html`${facts(rows)}<p><a class="button" href="/account/activity">${say('all')}</a></p>`;
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
      { label: 'who', cell: (event) => whoOf(page, event) },
      { label: 'where', cell: whereOf },
      { label: 'time', cell: ({ timestamp }) => ago(frame, timestamp, now) },
    ],
    nothing: frame.say('none'),
  });
}
