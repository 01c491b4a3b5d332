/** The page that lists what agents got in the name of its viewer. */
import { utcText } from '@cardea/mail';
import {
  ago,
  facts,
  firstRows,
  html,
  idNamedBy,
  pagesOf,
  read,
  type Shown,
  tag,
} from '@cardea/pages';
import type { ListOwnGrants, ShownGrant } from '../grants/grants.module.ts';
import { TEXTS, type TextKey } from './texts.ts';

type Data = {
  readonly own: { readonly grants: readonly ShownGrant[]; readonly next_cursor: string | null };
};
type Page = Shown<TextKey, Data>;

const TONES = { active: 'good', superseded: 'info', revoked: 'bad', expired: 'info' } as const;

const { pageOf } = pagesOf(TEXTS);

export const grantsPage = (listOwn: ListOwnGrants) =>
  pageOf({
    name: 'grants_page',
    summary: 'What agents got for the person',
    description: 'Lists the secrets that agents got in the name of the person, without values.',
    path: '/account/grants',
    reads: { own: read(listOwn, { url: { cursor: 'cursor' }, preset: { limit: '50' } }) },
    forms: {},
    view: (page) => ({
      title: page.frame.say('title'),
      width: 'wide',
      body: html`<p>${page.frame.say('lead')}</p>${grantList(page)}`,
    }),
    parts: { recent },
  });

const stateOf = ({ frame: { say } }: Page, { status }: ShownGrant) =>
  tag(TONES[status], say(`status.${status}`));

function recent(page: Page) {
  const { say } = page.frame;
  const factOf = (grant: ShownGrant) => ({
    label: `${grant.service_name}: ${grant.fields.join(', ')}`,
    value: html`${stateOf(page, grant)} ${ago(page.frame, grant.granted_at, page.now)}`,
  });
  return firstRows(page.data.own.grants, {
    draw: (first) => facts(first.map(factOf)),
    nothing: say('none'),
    all: { path: '/account/grants', text: say('all') },
  });
}

function grantList(page: Page) {
  const { frame, now } = page;
  return page.list<ShownGrant>({
    read: 'own',
    caption: 'caption',
    rows: page.data.own.grants,
    nextCursor: page.data.own.next_cursor,
    columns: [
      { label: 'service', cell: ({ service_name }) => service_name },
      { label: 'fields', cell: ({ fields }) => fields.join(', ') },
      { label: 'agent', cell: ({ agent_id }) => idNamedBy('/account/agents', 'names', agent_id) },
      { label: 'status', cell: (grant) => stateOf(page, grant) },
      { label: 'granted', cell: ({ granted_at }) => ago(frame, granted_at, now) },
      { label: 'until', cell: ({ expires_at }) => utcText(expires_at) },
    ],
    nothing: frame.say('none'),
  });
}
