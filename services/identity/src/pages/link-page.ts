/**
 * The pages that mailed links open. The secret is in the URL's fragment and is sent only after a click, so neither a
 * scanner nor a preview consumes it. Without JavaScript the person pastes the link.
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

/** `token` is for people without JavaScript, who copy it from the fragment by hand. */
export const LinkQuery = Type.Object({
  token: Type.Optional(Type.String()),
  tenant_id: Type.Optional(Type.String({ maxLength: 128 })),
  ui_locales: Type.Optional(Type.String({ maxLength: 256 })),
  // Another browser waits for the mailed proof.
  elsewhere: Type.Optional(Type.Literal('true')),
});

/** The minimum length if no tenant is known that requires more. */
const PASSWORD_CHARACTERS_MIN = 8;
const NAME_CHARACTERS_MAX = 128;

const ASKS_FOR_PASSWORD: ReadonlySet<LinkPage> = new Set(['verify', 'reset', 'invitation']);

export type LinkForm = {
  readonly action: string;
  /** The token, if it is already known. */
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

/** Shows the page of a link. The query may name its tenant; the secret stays in the browser. */
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

/** Why a mailed secret was refused, as pages state it. */
export type LinkFault = 'expired' | 'invalid' | 'used';
type Answer = {
  readonly ok?: unknown;
  readonly refused?: string;
  readonly headers?: Headers;
  /** Only pages show this reason. Other clients get one code for all reasons. */
  readonly linkFault?: LinkFault;
};
type Headers = { readonly [name: string]: string };

/** The response is a page if our own form was posted. Other clients get it unchanged. */
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
    // Only a person who had a link of the tenant may see its applications.
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

/** States why the link cannot be used, and shows where to continue. */
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
/** Refusals that no input can repair. */
const DEAD: ReadonlySet<string> = new Set([
  'invalid_verification_token',
  'invalid_reset_token',
  'reset_token_expired',
  'invalid_invitation',
  'invitation_expired',
  'invalid_link',
  'link_expired',
]);

/** The form that `drawLinkToken` produces. */
const SECRET = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[\w-]{43}/;
const TOKEN = /(?:^|[#?&])token=([^&\s]+)/;
/** Characters that mail programs put around an address, or that people copy with it. */
const AROUND = /^[\s<>"'\u00ab\u00bb\u2018-\u201f]+|[\s<>"'.,\u00ab\u00bb\u2018-\u201f]+$/gu;

/** Finds the token in a pasted text, which may be the whole link, possibly rewritten by a mail gateway. */
export function pastedToken(text: string): string {
  // Mail programs break long lines.
  const [secret] = SECRET.exec(text.replaceAll(/\s+/g, '')) ?? [];
  if (secret !== undefined) return secret;
  const bare = text.replaceAll(AROUND, '');
  const [, token] = TOKEN.exec(bare) ?? TOKEN.exec(decoded(bare)) ?? [];
  return token === undefined ? bare : token.replaceAll(AROUND, '');
}

/** Gateways put the original address into a parameter of their own address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
