/** Binds a code to the browser that requested it. */
const NAME = '__Host-otp';
const MAX_AGE_S = 600;
const FORM = /(?:^|;\s*)__Host-otp=([A-Za-z0-9_-]+)/;

export const codeCookie = (challenge: string): string =>
  `${NAME}=${challenge}; Path=/; Max-Age=${MAX_AGE_S}; Secure; HttpOnly; SameSite=Strict`;

export const challengeOfCookie = (header: string | undefined): string | undefined =>
  FORM.exec(header ?? '')?.[1];
