/** Confirming a sign-in at a page: the fields, and the typed values. */
import { field, hidden, mainLink, revealing } from '../fields.ts';
import { html, type Markup, NOTHING } from '../markup.ts';
import type { Say } from '../texts/texts.ts';
import type { Typed } from './form-body.ts';

export type ProofKind = 'passkey' | 'code' | 'password';
export type Proof =
  | { readonly method: 'password'; readonly password: string }
  | { readonly method: 'code'; readonly code: string }
  | { readonly method: 'passkey'; readonly challenge_id: string; readonly response: object };

export const PROOF_FIELDS = [
  'proof_password',
  'proof_code',
  'proof_challenge_id',
  'proof_response',
] as const;
/** Sent if only the confirmation was requested. The form itself is submitted afterwards. */
export const PROOF_ALONE = 'proof_alone';

const CODE_MAX_CHARS = 64;

export function proofFields(
  say: Say,
  of: {
    readonly ways: readonly ProofKind[];
    /** The address from which the script gets a challenge for a passkey. */
    readonly challenge: string;
    /** The address at which a person signs in again if they have no method of confirmation. */
    readonly signIn: string;
    readonly isWrong: boolean;
  },
): Markup {
  const { ways, challenge, isWrong } = of;
  const lead = html`<p>${say('proof.lead')}</p>`;
  if (ways.length === 0) return html`${lead}${mainLink(of.signIn, say('page.sign_in_again'))}`;
  const passkey = ways.includes('passkey')
    ? html`${hidden('proof_challenge_id', '')}${hidden('proof_response', '')}<button type="button" class="main" data-proof="${challenge}" hidden>${say('proof.passkey')}</button><div class="alert" role="alert" hidden><p>${say('passkey.failed')}</p></div>`
    : NOTHING;
  const typed = ways.includes('code')
    ? field({
        name: 'proof_code',
        label: say('proof.code'),
        autocomplete: 'one-time-code',
        isCode: 'letters',
        maxLength: CODE_MAX_CHARS,
        isInvalid: isWrong,
        isOptional: ways.includes('passkey'),
      })
    : ways.includes('password')
      ? field({
          name: 'proof_password',
          label: say('proof.password'),
          type: 'password',
          autocomplete: 'current-password',
          isInvalid: isWrong,
          isOptional: ways.includes('passkey'),
          reveal: revealing(say),
        })
      : NOTHING;
  const isPasskeyAlone = ways.every((way) => way === 'passkey');
  const without = isPasskeyAlone
    ? html`<p data-without-passkey>${say('passkey.unable')} <a href="${of.signIn}">${say('page.sign_in_again')}</a></p>`
    : NOTHING;
  return html`<fieldset class="proof"><legend>${say('proof.title')}</legend>${lead}${passkey}${without}${typed}</fieldset>
`;
}

/** Undefined if nothing was sent. */
export function proofOf(typed: Typed): Proof | undefined {
  const {
    proof_password: password = '',
    proof_code: code = '',
    proof_challenge_id: challenge_id = '',
    proof_response: text = '',
  } = typed;
  if (text !== '') {
    const response = objectOf(text);
    return response && { method: 'passkey', challenge_id, response };
  }
  if (code.trim() !== '') return { method: 'code', code: code.trim() };
  return password === '' ? undefined : { method: 'password', password };
}

function objectOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
