/** A sign-in that is too old for an approval is confirmed in the same press, by each method. */
import { describe, expect, it } from 'vitest';
import { approvalOfFile } from './approval-fixture.ts';
import { pageBrowser } from './page-browser.ts';

type Method = 'password' | 'code' | 'passkey';

/** The one method of confirmation that the person has. */
let method: Method = 'password';
/** Identity's new token for each token whose sign-in was confirmed. */
const confirmed = new Map<string, string>();
const WRONG = {
  password: { code: 'invalid_credentials', text: 'That password is not right.' },
  code: { code: 'invalid_code', text: 'That code is not right.' },
  passkey: { code: 'invalid_passkey', text: 'That passkey is not right.' },
} as const;
const PROOFS: {
  readonly [one in Method]: (value: string) => { readonly [field: string]: string };
} = {
  password: (value) => ({ proof_password: value }),
  code: (value) => ({ proof_code: value }),
  passkey: (value) => ({
    proof_challenge_id: 'c1',
    proof_response: JSON.stringify({ id: value }),
  }),
};

const fixture = approvalOfFile({
  withoutSweeper: true,
  peers: {
    identity: {
      proofs: async () => ({ ways: [method], challenge: null }),
      stepUp: async ({ token, proof }) =>
        proof.method === method && JSON.stringify(proof).includes('right')
          ? { token: confirmed.get(token) ?? '' }
          : { refused: WRONG[proof.method].code, status: 401, retryAfter: null },
    },
  },
});

describe('people 8 an approval that wants a recent sign-in', () => {
  it.each(['password', 'code', 'passkey'] as const)(
    'is confirmed by %s and given in one press; a wrong proof gives nothing and keeps the entries',
    async (by) => {
      method = by;
      const { id: tenantId, ann } = await fixture.people(`proofs-${by}`);
      const opened = async (digest: string) => {
        const more = { digest, number_match: true, max_auth_age_seconds: 60 };
        const vend = await fixture.open(tenantId, more);
        const code = /code (\d{4})/.exec(String(vend['binding_message']))?.[1] ?? '';
        const id = String(vend['id']);
        const typed = { form: 'approve', binding_code: code, comment: 'only this once' };
        const read = async () => (await ann.get(`/api/v1/ciba/requests/${id}`)).body;
        return { path: `/approve/${id}`, typed, read };
      };
      const { path, typed, read } = await opened('d1');
      const token = fixture.tokens.user({ tenantId, id: 'ann', claims: { auth_time: 1 } });
      confirmed.set(token, fixture.tokens.user({ tenantId, id: 'ann' }));
      const browser = pageBrowser(fixture, token);

      const late = await browser.press(path, typed);
      expect(late.status).toBe(401);
      for (const name of Object.keys(PROOFS[by](''))) expect(late.text).toContain(`name="${name}"`);
      const wrong = await browser.press(path, { ...typed, ...PROOFS[by]('wrong') });
      expect([wrong.status, (await read()).status]).toEqual([401, 'pending']);
      expect(wrong.text).toContain(WRONG[by].text);
      for (const { text } of [late, wrong]) {
        expect(text).toContain('value="only this once"');
        // The number is typed anew, like any secret.
        expect(text).not.toContain(`value="${typed.binding_code}"`);
      }
      const right = await browser.press(path, { ...typed, ...PROOFS[by]('right') });
      expect(right.status).toBe(303);
      expect(await read()).toMatchObject({ status: 'approved', comment: 'only this once' });
      // The browser now has a token with the recent confirmation, so the next approval asks for none.
      const next = await opened('d2');
      expect((await browser.press(next.path, next.typed)).status).toBe(303);
    },
  );
});
