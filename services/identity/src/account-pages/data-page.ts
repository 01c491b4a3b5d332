/** Lets a person export their data and delete their account. */
import { utcText } from '@cardea/mail';
import { facts, html, type Markup, read } from '@cardea/pages';
import { type AccountEndpoints, type AccountPage, formOf, pageOf } from './endpoints.ts';

/** Only the number of items is shown. */
const COUNTED = { limit: '1' } as const;

const ELSEWHERE = [
  { path: '/account/decisions', text: 'data.decisions' },
  { path: '/account/grants', text: 'data.grants' },
  { path: '/account/activity', text: 'data.activity' },
] as const;

type Data = {
  readonly profile: { readonly email: string };
  readonly deletion: {
    readonly delete_at: string | null;
    readonly allowed: boolean;
    readonly wait_days: number;
  };
  readonly devices: { readonly count: number };
  readonly delegations: { readonly total: number };
  readonly sessions: { readonly data: { readonly total: number } };
};
type Page = AccountPage<Data>;

export const dataPage = (endpoints: AccountEndpoints) =>
  pageOf({
    name: 'data_page',
    summary: 'What is kept about the person, and the end of the account',
    description: 'Gives the person their data as a file, and has the account deleted.',
    path: '/account/data',
    reads: {
      profile: read(endpoints.getProfile),
      deletion: read(endpoints.getDeletion),
      devices: read(endpoints.listSessions, { preset: COUNTED }),
      delegations: read(endpoints.listDelegations, { preset: COUNTED }),
      sessions: read(endpoints.listAgentSessions, {
        preset: { ...COUNTED, status: 'active' },
        person: 'user_id',
      }),
    },
    forms: {
      export: formOf(endpoints.exportAccount, {
        title: 'data.export',
        submit: 'data.export',
        fields: [],
        download: 'account.json',
      }),
      delete: formOf(endpoints.scheduleDeletion, {
        title: 'data.delete',
        submit: 'data.delete_submit',
        done: 'data.delete_done',
        fields: [],
        opens: ending,
        confirmedBy: ({ data }: Pick<Page, 'data'>) => data.profile.email,
        confirmedAs: 'confirm',
      }),
      keep: formOf(endpoints.cancelDeletion, {
        title: 'data.keep',
        submit: 'data.keep',
        done: 'data.kept',
        fields: [],
      }),
    },
    view: (page) => ({
      title: page.frame.say('data.title'),
      width: 'form',
      body: html`<section><h2>${page.frame.say('data.export_title')}</h2><p>${page.frame.say('data.export_lead')}</p>${page.form('export')}${elsewhere(page)}</section>
<section><h2>${page.frame.say('data.delete_title')}</h2>${deletion(page)}</section>`,
    }),
  });

/** Describes what ends immediately, with numbers, and what ends on the day of the deletion. */
const ending = ({ frame: { say }, data }: Page): Markup =>
  html`<p>${say('data.delete_lead', { days: String(data.deletion.wait_days) })}</p>${facts([
    { label: say('data.devices'), value: String(Math.max(0, data.devices.count - 1)) },
    { label: say('data.delegations'), value: String(data.delegations.total) },
    { label: say('data.sessions'), value: String(data.sessions.data.total) },
  ])}`;

/** Links to the pages of other services, which show what those services store about the person. */
const elsewhere = ({ frame: { say } }: Page): Markup =>
  html`<p>${say('data.elsewhere')}</p><ul>${ELSEWHERE.map(({ path, text }) => html`<li><a href="${path}">${say(text)}</a></li>`)}</ul>`;

function deletion({ frame: { say }, data: { deletion: of }, form }: Page): Markup {
  if (of.delete_at !== null) {
    return html`<p>${say('data.waits', { time: utcText(of.delete_at) })}</p>${form('keep')}`;
  }
  return of.allowed
    ? html`<p>${say('data.wait_days', { days: String(of.wait_days) })}</p>${form('delete')}`
    : html`<p>${say('data.off')}</p>`;
}
