/**
 * The pages that mailed links lead to. The secret is in the URL's fragment and is sent only after a click, so
 * neither a scanner nor a preview consumes it. Without a script the link is pasted.
 */
import { isForm, type Request } from '@cardea/http';
import {
  field,
  form,
  type Html,
  hidden,
  html,
  type Markup,
  mainButton,
  page,
  plainPage,
  revealing,
  SHOW_PASSWORD_SCRIPT,
  type ShownTenant,
  scriptsOf,
  send,
} from '@cardea/pages';
import Type, { type Static } from 'typebox';
import { type Frame, frameOf } from './frame.ts';
import { type FindOnward, type Onward, onwardLinks } from './onward.ts';
import { TOKEN_SCRIPT } from './token-script.ts';

export type LinkPage =
  | 'verify'
  | 'reset'
  | 'magic'
  | 'invitation'
  | 'email_change'
  | 'email_change_stop';

type LinkTenant = ShownTenant & {
  readonly settings: { readonly password_policy: { readonly min: number } };
};
export type LinkPageDependencies = {
  readonly workspaces: { readonly tenant: (id: string) => Promise<LinkTenant | undefined> };
  readonly onward: FindOnward;
};
type AnyRequest = Request<unknown, unknown, unknown>;

/** `token`: for whoever has no script, and so takes it out of the fragment by hand. */
export const LinkQuery = Type.Object({
  token: Type.Optional(Type.String()),
  tenant_id: Type.Optional(Type.String({ maxLength: 128 })),
  ui_locales: Type.Optional(Type.String({ maxLength: 256 })),
  // Another browser waits for what was mailed.
  elsewhere: Type.Optional(Type.Literal('true')),
});

/** Where no tenant is known that asks for more. */
const PASSWORD_CHARACTERS_MIN = 8;
const NAME_CHARACTERS_MAX = 128;

const ASKS_FOR_PASSWORD: ReadonlySet<LinkPage> = new Set(['verify', 'reset', 'invitation']);

export type LinkForm = {
  readonly action: string;
  /** Where it is known already. */
  readonly token?: string | undefined;
  readonly displayName?: string | undefined;
  readonly passwordMin?: number | undefined;
  readonly alert?: string | undefined;
  readonly isAwaitedElsewhere?: boolean;
};

export function linkPage(frame: Frame, kind: LinkPage, of: LinkForm): Html {
  const { say } = frame;
  const lead = say(of.isAwaitedElsewhere === true ? 'verify.elsewhere' : `${kind}.lead`);
  const takesTenant = html`<p${frame.tenantName === '' ? html` data-takes-tenant` : undefined}>${lead}</p>
`;
  const token =
    of.token === undefined
      ? field({ name: 'token', label: say('link.paste'), autocomplete: 'off' })
      : hidden('token', of.token);
  const parts = [token, ...ownFields(frame, kind, of), mainButton(say(`${kind}.submit`))];
  return page(frame, {
    title: say(`${kind}.title`),
    body: html`${takesTenant}${form(of.action, ...parts)}`,
    alert: of.alert,
    script: scriptsOf(
      of.token === undefined && TOKEN_SCRIPT,
      ASKS_FOR_PASSWORD.has(kind) && SHOW_PASSWORD_SCRIPT,
    ),
  });
}

function ownFields({ say }: Frame, kind: LinkPage, of: LinkForm): readonly Markup[] {
  const { passwordMin: minLength = PASSWORD_CHARACTERS_MIN } = of;
  const hint = say('reset.hint', { min: String(minLength) });
  const password = (name: string, label: string) =>
    field({
      name,
      label,
      type: 'password',
      autocomplete: 'new-password',
      hint,
      minLength,
      isInvalid: of.alert !== undefined,
      reveal: revealing(say),
    });
  switch (kind) {
    case 'magic':
    case 'email_change':
    case 'email_change_stop':
      return [];
    case 'verify':
      return [
        field({
          name: 'password',
          label: say('verify.password'),
          type: 'password',
          autocomplete: 'current-password',
          hint: say('verify.hint'),
          isOptional: true,
          isInvalid: of.alert !== undefined,
          reveal: revealing(say),
        }),
      ];
    case 'reset':
      return [password('new_password', say('reset.password'))];
    case 'invitation':
      return [
        field({
          name: 'display_name',
          label: say('invitation.name'),
          autocomplete: 'name',
          value: of.displayName,
          maxLength: NAME_CHARACTERS_MAX,
        }),
        password('password', say('password')),
      ];
  }
}

/** The page of a link whose tenant the query may name; what else is in it stays in the browser. */
export async function showLinkPage(
  { workspaces }: Pick<LinkPageDependencies, 'workspaces'>,
  kind: LinkPage,
  request: Request<unknown, Static<typeof LinkQuery>, unknown>,
  action: string,
) {
  const { query, headers } = request;
  const tenant =
    query.tenant_id === undefined ? undefined : await workspaces.tenant(query.tenant_id);
  const frame = frameOf(tenant, headers, { uiLocales: query.ui_locales });
  const passwordMin = tenant?.settings.password_policy.min;
  const isAwaitedElsewhere = query.elsewhere === 'true';
  const shown = { action, token: query.token, passwordMin, isAwaitedElsewhere };
  return { raw: send(200, linkPage(frame, kind, shown)) };
}

/** Why a secret that was mailed is refused, as far as a page says it. */
export type LinkFault = 'expired' | 'invalid' | 'used';
type Answer = {
  readonly ok?: unknown;
  readonly refused?: string;
  readonly headers?: Headers;
  /** Told at pages alone: programs get one code for all of them. */
  readonly linkFault?: LinkFault;
};
type Headers = { readonly [name: string]: string };

/** Sent by our own form, an answer is a page; programs get it as it is. */
export async function linkAnswer<A extends Answer>(
  { workspaces, onward }: LinkPageDependencies,
  of: {
    readonly kind: LinkPage;
    readonly request: AnyRequest;
    readonly refusals: { readonly [code: string]: number };
    readonly action: string;
    readonly tenantId: string;
    readonly token: string;
    readonly displayName?: string | undefined;
  },
  answer: A,
) {
  const { kind, request, refusals } = of;
  if (!isForm(request.headers)) return answer;
  const tenant = await workspaces.tenant(of.tenantId);
  const frame = frameOf(tenant, request.headers);
  const { say } = frame;
  const { refused } = answer;
  if (refused === undefined) {
    const more = onwardLinks(frame, await onward(of.tenantId));
    const done = plainPage(frame, say(`${kind}.done.title`), say(`${kind}.done.lead`), more);
    return { raw: send(200, done) };
  }
  const status = refusals[refused] ?? BAD_REQUEST;
  if (DEAD.has(refused)) {
    const { linkFault: fault = 'invalid' } = answer;
    // Only whoever had a link of the tenant learns of its applications.
    const to = await onward(fault === 'invalid' ? undefined : of.tenantId);
    const dead = deadLinkPage(frame, { kind, fault, to });
    return { raw: send(status, dead, answer.headers) };
  }
  const alert = frame.sayRefusal(refused, answer.headers?.['Retry-After']);
  const { action, token, displayName } = of;
  const passwordMin = tenant?.settings.password_policy.min;
  const again = linkPage(frame, kind, { action, token, displayName, passwordMin, alert });
  return { raw: send(status, again, answer.headers) };
}

/** Says what became of the link, and leads on. */
function deadLinkPage(
  frame: Frame,
  of: { readonly kind: LinkPage; readonly fault: LinkFault; readonly to: readonly Onward[] },
): Html {
  const { say } = frame;
  const { kind, fault, to } = of;
  const lead = say(fault === 'used' ? `used.${kind}` : `dead.${fault}`);
  return plainPage(frame, say(`dead.${fault}.title`), lead, onwardLinks(frame, to));
}

const BAD_REQUEST = 400;
/** Nothing that is entered makes up for it. */
const DEAD: ReadonlySet<string> = new Set([
  'invalid_verification_token',
  'invalid_reset_token',
  'reset_token_expired',
  'invalid_invitation',
  'invitation_expired',
  'invalid_link',
  'link_expired',
]);

/** As `drawLinkToken` makes it. */
const SECRET = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[\w-]{43}/;
const TOKEN = /(?:^|[#?&])token=([^&\s]+)/;
/** What a mail program puts around an address, and what a person copies along with it. */
const AROUND = /^[\s<>"'\u00ab\u00bb\u2018-\u201f]+|[\s<>"'.,\u00ab\u00bb\u2018-\u201f]+$/gu;

/** A form may have been given the whole link, also as a gateway has rewritten it. */
export function pastedToken(text: string): string {
  // Mail programs break long lines.
  const [secret] = SECRET.exec(text.replaceAll(/\s+/g, '')) ?? [];
  if (secret !== undefined) return secret;
  const bare = text.replaceAll(AROUND, '');
  const [, token] = TOKEN.exec(bare) ?? TOKEN.exec(decoded(bare)) ?? [];
  return token === undefined ? bare : token.replaceAll(AROUND, '');
}

/** Gateways carry the address that they replaced as a parameter of theirs. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
