/** Lists where a person is signed in, and lets them sign out there. */
import { ago, html, read, tag } from '@cardea/pages';
import { type AccountEndpoints, type AccountPage, formOf, pageOf } from './endpoints.ts';
import { deviceName } from './parts.ts';

const PAGE_ROWS = '50';

type Session = {
  readonly id: string;
  readonly current: boolean;
  readonly browser: string;
  readonly os: string;
  readonly ip_address: string;
  readonly location?: { readonly city: string; readonly country: string };
  readonly last_active_at: string;
};
type Sessions = { readonly sessions: readonly Session[]; readonly count: number };

export const sessionsPage = (endpoints: AccountEndpoints) =>
  pageOf({
    name: 'sessions_page',
    summary: 'Where the person is signed in',
    description: 'Lists the live sessions of the person, this device first, and ends them.',
    path: '/account/sessions',
    reads: {
      list: read(endpoints.listSessions, {
        url: { offset: 'offset' },
        preset: { limit: PAGE_ROWS },
      }),
    },
    forms: {
      end: formOf(endpoints.revokeSession, {
        title: 'sessions.end',
        submit: 'sessions.end',
        done: 'sessions.ended',
        fields: [],
      }),
      end_others: formOf(endpoints.revokeSessions, {
        title: 'sessions.end_others',
        submit: 'sessions.end_others',
        done: 'sessions.others_done',
        fields: [],
        opens: ({ frame: { say }, data }: AccountPage<{ list: Sessions }>) =>
          say('sessions.others_lead', { count: String(Math.max(0, data.list.count - 1)) }),
      }),
    },
    view: (page) => ({
      title: page.frame.say('sessions.title'),
      width: 'wide',
      body: html`<p>${page.frame.say('sessions.lead')}</p>${sessionList(page)}<div class="actions">${page.form('end_others')}</div>`,
    }),
  });

function sessionList({ frame, data, form, list, now }: AccountPage<{ list: Sessions }>) {
  const { say } = frame;
  const { sessions, count } = data.list;
  const nameOf = (session: Session) => deviceName(session) ?? say('sessions.unknown');
  return list<Session>({
    read: 'list',
    caption: 'sessions.caption',
    rows: sessions.toSorted((one, other) => Number(other.current) - Number(one.current)),
    total: count,
    columns: [
      { label: 'sessions.device', cell: nameOf },
      { label: 'sessions.where', cell: whereOf },
      {
        label: 'sessions.active',
        cell: ({ last_active_at }) => ago(frame, last_active_at, now),
      },
      {
        label: 'actions',
        cell: (session) =>
          session.current
            ? tag('info', say('sessions.this'))
            : form('end', { params: { id: session.id }, about: nameOf(session) }),
      },
    ],
    nothing: say('sessions.none'),
  });
}

const whereOf = ({ ip_address, location }: Session): string =>
  location === undefined ? ip_address : `${location.city}, ${location.country} (${ip_address})`;
