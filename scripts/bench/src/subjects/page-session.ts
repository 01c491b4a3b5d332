/** A browser that has signed in to Cardea's own pages, as the cookies that it sends. */
import { Pool } from 'undici';
import { signIn } from './browser.ts';
import type { Owner } from './sign-up.ts';

/** Signs in by password, from `/approve` and back to it. Returns the `Cookie` header. */
export async function pageCookie(
  base: string,
  { tenant, email, password }: Pick<Owner, 'tenant' | 'email' | 'password'>,
): Promise<string> {
  const pool = new Pool(base);
  try {
    const query = new URLSearchParams({ in: tenant, return_to: '/approve' });
    const account = { issuer: base, email, password };
    const { cookie, end } = await signIn(pool, account, `/account/sign-in?${query}`);
    if (end.pathname !== '/approve') throw new Error(`the sign-in ended at ${end}`);
    return cookie;
  } finally {
    await pool.close();
  }
}
