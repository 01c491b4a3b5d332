/** A person's own address, and the requested new address. */
import { utcText } from '@cardea/mail';
import { facts, html, type Markup, read } from '@cardea/pages';
import { type AccountEndpoints, type AccountPage, formOf, pageOf } from './endpoints.ts';
import { addressOf } from './parts.ts';

type Change = {
  readonly email: string;
  readonly missing: readonly ('new' | 'present')[];
  readonly expires_at: string;
  readonly effective_at: string | null;
};
type Own = {
  readonly email: string;
  readonly email_verified: boolean;
  readonly change: Change | null;
};
type Page = AccountPage<{ readonly own: Own }>;

export const emailPage = (endpoints: AccountEndpoints) =>
  pageOf({
    name: 'email_page',
    summary: 'The e-mail address of the person',
    description: 'Shows the address of the person, and changes it once both addresses confirm it.',
    path: '/account/email',
    reads: { own: read(endpoints.getEmailChange) },
    forms: {
      verify: formOf(endpoints.verifyMyEmailChange, {
        title: 'email.verify',
        submit: 'email.verify',
        done: 'email.proven',
        fields: [{ name: 'code', label: 'email.code', help: 'email.code_help', kind: 'code' }],
      }),
      resend: formOf(endpoints.resendVerification, {
        title: 'email.resend',
        submit: 'email.resend',
        done: 'email.resent',
        fields: [],
      }),
      stop: formOf(endpoints.stopEmailChange, {
        title: 'email.stop',
        submit: 'email.stop',
        done: 'email.stopped',
        fields: [],
      }),
      change: formOf(endpoints.requestEmailChange, {
        title: 'email.change',
        submit: 'email.send',
        done: 'email.sent',
        opens: ({ frame: { say } }: Page) => say('email.change_lead'),
        fields: [
          { name: 'email', label: 'email.new', kind: 'email' },
          { name: 'present_out_of_reach', label: 'email.lost', help: 'email.lost_help' },
        ],
      }),
    },
    view: (page) => ({
      title: page.frame.say('email'),
      width: 'form',
      body: html`${present(page)}${waiting(page)}${page.form('change')}${page.curl('own')}`,
    }),
  });

const present = ({ frame: { say }, data: { own }, form }: Page): Markup =>
  html`${facts([{ label: say('email.now'), value: addressOf(say, own) }])}${own.email_verified ? '' : form('resend')}`;

/** Shows which proofs are missing for the new address, until when, and how to cancel. */
function waiting({ frame: { say }, data: { own }, form }: Page): Markup {
  const { change } = own;
  if (change === null) return html`<p>${say('email.lead')}</p>`;
  const { email, missing, expires_at, effective_at } = change;
  const sides = missing.map((side) => say(`email.side_${side}`)).join(', ');
  const list = [
    { label: say('email.new'), value: email },
    ...(missing.length === 0 ? [] : [{ label: say('email.missing'), value: sides }]),
    effective_at === null
      ? { label: say('email.until'), value: utcText(expires_at) }
      : { label: say('email.effective'), value: utcText(effective_at) },
  ];
  return html`<section aria-labelledby="waiting"><h2 id="waiting">${say('email.waits')}</h2>${facts(list)}${missing.length === 0 ? '' : form('verify')}${form('stop')}</section>`;
}
