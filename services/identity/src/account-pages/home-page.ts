/** The first page of the account: who the person is, what waits for them, and what they should check. */
import { utcText } from '@cardea/mail';
import { ago, facts, html, type Markup, partLink, read, utcDay } from '@cardea/pages';
import { type AccountEndpoints, type AccountPage, pageOf } from './endpoints.ts';
import { addressOf, deviceName } from './parts.ts';

const RECENT_ROWS = '3';
/** With fewer recovery codes than this, the page recommends creating new ones. */
const CODES_FEW = 3;

type Data = {
  readonly profile: {
    readonly email: string;
    readonly email_verified: boolean;
    readonly display_name: string | null;
    readonly roles: readonly string[];
    readonly created_at: string;
  };
  readonly factors: {
    readonly policy: string;
    readonly factors: readonly { readonly type: string }[];
    readonly recovery_codes_remaining: number;
  };
  readonly deletion: { readonly delete_at: string | null };
  readonly recent: {
    readonly sessions: readonly {
      readonly browser: string;
      readonly os: string;
      readonly last_active_at: string;
    }[];
  };
};

export const homePage = ({
  getDeletion,
  getProfile,
  listFactors,
  listSessions,
}: AccountEndpoints) =>
  pageOf({
    name: 'account_page',
    summary: 'The account of the person who is signed in',
    description: 'Shows who the person is, what waits for them, and what they had better mend.',
    path: '/account',
    reads: {
      profile: read(getProfile),
      factors: read(listFactors),
      deletion: read(getDeletion),
      recent: read(listSessions, { preset: { limit: RECENT_ROWS } }),
    },
    forms: {},
    view: (page) => {
      const { frame, data, now } = page;
      const { say } = frame;
      const { profile, recent } = data;
      const name = profile.display_name ?? profile.email;
      const rows = recent.sessions.map((session) => ({
        label: deviceName(session) ?? say('sessions.unknown'),
        value: ago(frame, session.last_active_at, now),
      }));
      return {
        title: say('home.title'),
        width: 'wide',
        body: html`<p>${say('home.lead', { name, tenant: frame.tenantName })}</p>${warnings(page)}
<section><h2>${say('home.who')}</h2>${facts([
          { label: say('email'), value: addressOf(say, profile) },
          { label: say('roles'), value: profile.roles.join(', ') },
          { label: say('since'), value: utcDay(profile.created_at) },
        ])}</section>
<section><h2>${say('home.waits')}</h2>${partLink('/approve', 'waiting', say('home.approvals'))}</section>
<section><h2>${say('home.recent')}</h2>${facts(rows)}<p><a class="button" href="/account/sessions">${say('home.all_sessions')}</a></p></section>
<section><h2>${say('home.activity')}</h2>${partLink('/account/activity', 'recent', say('home.all_activity'))}</section>`,
      };
    },
  });

function warnings({ frame: { say }, data }: AccountPage<Data>): Markup {
  const { profile, factors, deletion } = data;
  const { recovery_codes_remaining: left } = factors;
  const hasTotp = factors.factors.some(({ type }) => type === 'totp');
  const email = '/account/email';
  const security = '/account/security';
  const list = [
    deletion.delete_at !== null && {
      text: say('warn.deletion', { time: utcText(deletion.delete_at) }),
      at: '/account/data',
    },
    !profile.email_verified && { text: say('warn.email'), at: email },
    factors.factors.length === 0 &&
      factors.policy !== 'disabled' && { text: say('warn.no_factor'), at: security },
    hasTotp && left === 0 && { text: say('warn.no_codes'), at: security },
    hasTotp &&
      left > 0 &&
      left < CODES_FEW && { text: say('warn.few_codes', { count: String(left) }), at: security },
  ].filter((each) => each !== false);
  return list.length === 0
    ? html``
    : html`<section class="note" aria-labelledby="warnings"><h2 id="warnings">${say('warn.title')}</h2><ul>${list.map(({ text, at }) => html`<li><a href="${at}">${text}</a></li>`)}</ul></section>`;
}
