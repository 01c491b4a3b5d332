/** A person's own channels: the chats and phones that are notified of requests to that person. */
import { ago, html, type Markup, pagesOf, read, type Shown, tag } from '@cardea/pages';
import type { ChannelEndpoints, ChannelShape } from '../channels/channels.module.ts';
import { CHANNEL_TEXTS, type ChannelTextKey } from './channel-texts.ts';

type Data = { readonly all: { readonly channels: readonly ChannelShape[] } };
type Page = Shown<ChannelTextKey, Data>;

const { pageOf, formOf } = pagesOf(CHANNEL_TEXTS);

const FORMATS = [
  { value: 'slack', label: 'format.slack' },
  { value: 'teams', label: 'format.teams' },
  { value: 'discord', label: 'format.discord' },
  { value: 'ntfy', label: 'format.ntfy' },
] as const;
const SEVERITIES = [
  { value: 'low', label: 'severity.low' },
  { value: 'medium', label: 'severity.medium' },
  { value: 'high', label: 'severity.high' },
] as const;
const NAME = { name: 'name', label: 'name', help: 'name_help' } as const;
const SEVERITY = { name: 'min_severity', label: 'severity', options: SEVERITIES } as const;

export const channelsPage = ({ list, create, change, remove, test }: ChannelEndpoints) =>
  pageOf({
    name: 'channels_page',
    summary: 'Where the person is told of requests',
    description: 'Lists the chats and phones of the person, and adds, tests and removes them.',
    path: '/account/channels',
    reads: { all: read(list) },
    forms: {
      create: formOf(create, {
        title: 'add',
        submit: 'add',
        done: 'added',
        opens: ({ frame: { say } }: Page) => say('add_lead'),
        preset: (user_id: string) => ({ recipient: { user_id } }),
        current: () => ({ min_severity: 'low' }),
        fields: [
          NAME,
          { name: 'format', label: 'format', options: FORMATS },
          { name: 'url', label: 'url', help: 'url_help' },
          { name: 'token', label: 'token', help: 'token_help', kind: 'secret' },
          SEVERITY,
        ],
      }),
      change: formOf(change, {
        title: 'change_title',
        submit: 'change',
        done: 'changed',
        opens: ({ frame: { say } }: Page) => say('change_lead'),
        current: ({ all }: Data, { id }) => ({ ...all.channels.find((each) => each.id === id) }),
        fields: [NAME, SEVERITY, { name: 'enabled', label: 'enabled' }],
      }),
      test: formOf(test, { title: 'test', submit: 'test', done: 'tested', fields: [] }),
      remove: formOf(remove, {
        title: 'remove_title',
        submit: 'remove',
        done: 'removed',
        fields: [],
        opens: ({ frame: { say }, data }: Page, { id }) =>
          say('remove_lead', {
            name: data.all.channels.find((each) => each.id === id)?.name ?? '',
          }),
      }),
    },
    view: (page) => ({
      title: page.frame.say('title'),
      width: 'wide',
      body: html`<p>${page.frame.say('lead')}</p>${channelList(page)}<div class="actions">${page.form('create')}</div>`,
    }),
    parts: { mine: named },
  });

/** Leaves out the tenant's channels, which administrators also receive but do not own. */
const ownOf = ({ data, userId }: Page): readonly ChannelShape[] =>
  data.all.channels.filter(
    ({ recipient }) =>
      recipient !== 'all' && 'user_id' in recipient && recipient.user_id === userId,
  );

function named(page: Page): Markup {
  const { say } = page.frame;
  const own = ownOf(page);
  const link = html`<p><a class="button" href="/account/channels">${say('manage')}</a></p>`;
  return own.length === 0
    ? html`<p class="muted">${say('none')}</p>${link}`
    : html`<ul>${own.map(({ name, format }) => html`<li>${name} (${say(`format.${format}`)})</li>`)}</ul>${link}`;
}

function channelList(page: Page): Markup {
  const { frame, form, now } = page;
  const { say } = frame;
  return page.list<ChannelShape>({
    read: 'all',
    caption: 'caption',
    rows: ownOf(page),
    columns: [
      { label: 'name', cell: ({ name }) => name },
      { label: 'format', cell: ({ format, origin }) => `${say(`format.${format}`)}, ${origin}` },
      { label: 'severity', cell: ({ min_severity }) => say(`severity.${min_severity}`) },
      { label: 'state', cell: (channel) => stateOf(page, channel) },
      {
        label: 'last_sent',
        cell: ({ last_sent_at: at }) => (at === null ? say('never') : ago(frame, at, now)),
      },
      {
        label: 'actions',
        cell: ({ id, name }) => {
          const use = { params: { id }, about: name };
          return html`<div class="actions">${form('test', use)}${form('change', use)}${form('remove', use)}</div>`;
        },
      },
    ],
    nothing: html`${say('none')} ${say('none_help')}`,
  });
}

const stateOf = ({ frame: { say } }: Page, { enabled, last_error }: ChannelShape): Markup => {
  if (!enabled) return tag('info', say('state.off'));
  return last_error === null ? tag('good', say('state.on')) : tag('bad', say('state.failed'));
};
