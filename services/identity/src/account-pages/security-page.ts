/** The person's sign-in methods: password, passkeys, authenticator, recovery codes and linked accounts. */
import { ago, html, type Markup, read } from '@cardea/pages';
import { type AccountEndpoints, type AccountPage, pageOf } from './endpoints.ts';
import type { Factor, Linked, SecurityData } from './security-data.ts';
import { securityForms } from './security-forms.ts';
import type { TextKey } from './texts-en.ts';

type Page = AccountPage<SecurityData>;

export const securityPage = (endpoints: AccountEndpoints) =>
  pageOf({
    name: 'security_page',
    summary: 'How the person signs in',
    description: 'Shows by what the person signs in, and changes it.',
    path: '/account/security',
    reads: {
      mfa: read(endpoints.listFactors),
      keys: read(endpoints.listPasskeys),
      linked: read(endpoints.listIdentities),
    },
    forms: securityForms(endpoints),
    view: (page) => ({
      title: page.frame.say('security.title'),
      width: 'wide',
      body: html`${section(page, 'password', page.form('password'))}${section(page, 'passkeys', html`${passkeyList(page)}${page.form('add_passkey')}`)}${section(page, 'totp', html`${totpList(page)}${page.form('enrol_totp')}`)}${section(page, 'codes', recoveryCodes(page))}${section(page, 'linked', linkedList(page))}`,
    }),
  });

type Section = 'password' | 'passkeys' | 'totp' | 'codes' | 'linked';

const section = ({ frame: { say } }: Page, name: Section, content: Markup): Markup =>
  html`<section aria-labelledby="${name}"><h2 id="${name}">${say(`${name}.title`)}</h2><p class="muted">${say(`${name}.lead`)}</p><div>${content}</div></section>
`;

function factorList(
  page: Page,
  of: {
    readonly read: string;
    readonly caption: TextKey;
    readonly rows: readonly Factor[];
    readonly nothing: TextKey;
    readonly nameOf: (factor: Factor) => string;
    readonly actions: (factor: Factor) => Markup;
  },
): Markup {
  const { frame, now, list } = page;
  const { say } = frame;
  return list<Factor>({
    read: of.read,
    caption: of.caption,
    rows: of.rows,
    columns: [
      { label: 'passkey.name', cell: of.nameOf },
      { label: 'created', cell: ({ created_at }) => ago(frame, created_at, now) },
      {
        label: 'last_used',
        cell: ({ last_used_at: at }) => (at === null ? say('never') : ago(frame, at, now)),
      },
      { label: 'actions', cell: of.actions },
    ],
    nothing: say(of.nothing),
  });
}

function passkeyList(page: Page): Markup {
  const nameOf = ({ name }: Factor) => name ?? page.frame.say('passkeys.unnamed');
  return factorList(page, {
    read: 'keys',
    caption: 'passkeys.caption',
    rows: page.data.keys.passkeys,
    nothing: 'passkeys.none',
    nameOf,
    actions: (factor) => {
      const use = { params: { id: factor.id }, about: nameOf(factor) };
      return html`<div class="actions">${page.form('rename_passkey', use)}${page.form('remove_passkey', use)}</div>`;
    },
  });
}

function totpList(page: Page): Markup {
  const nameOf = ({ name }: Factor) => name ?? page.frame.say('totp.unnamed');
  return factorList(page, {
    read: 'mfa',
    caption: 'totp.caption',
    rows: page.data.mfa.factors.filter(({ type }) => type === 'totp'),
    nothing: 'totp.none',
    nameOf,
    actions: (factor) =>
      page.form('remove_factor', { params: { id: factor.id }, about: nameOf(factor) }),
  });
}

function recoveryCodes({ frame: { say }, data: { mfa }, form }: Page): Markup {
  const count = String(mfa.recovery_codes_remaining);
  return mfa.factors.length === 0
    ? html`<p>${say('codes.none')}</p>`
    : html`<p>${say('codes.left', { count })}</p>${form('renew_codes')}`;
}

function linkedList({ frame, data, form, list, now }: Page): Markup {
  return list<Linked>({
    read: 'linked',
    caption: 'linked.caption',
    rows: data.linked.identities,
    columns: [
      { label: 'linked.provider', cell: ({ provider }) => provider },
      { label: 'linked.since', cell: ({ linked_at }) => ago(frame, linked_at, now) },
      {
        label: 'actions',
        cell: ({ provider }) => form('unlink', { params: { provider }, about: provider }),
      },
    ],
    nothing: frame.say('linked.none'),
  });
}
