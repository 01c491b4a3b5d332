import { LANGUAGES } from '@cardea/mail';
import { type Html, page } from '@cardea/pages';
import { describe, expect, it } from 'vitest';
import { deviceCodePage, deviceConfirmPage } from '../../pages/device-pages.ts';
import { frameOf } from '../../pages/frame.ts';
import type { Interaction, Progress } from './interaction.ts';
import { interactionPage } from './interaction-page.ts';
import type { InteractionView } from './interaction-view.ts';
import { recoveryCodesPage } from './sign-in-pages.ts';

const EVIL = `"'><script>alert(1)</script>&`;
const branding = {
  logo_url: 'https://cdn.example/logo.png',
  icon_url: null,
  primary_color: '#1a6b52',
  background_color: null,
  support_email: EVIL,
  terms_url: `https://example.com/${EVIL}`,
  privacy_url: null,
};

const view: InteractionView = {
  uid: 'uid',
  prompt: 'consent',
  client: { name: EVIL, host: EVIL, first_party: false },
  scopes: [{ name: EVIL, description: EVIL, new: true }],
  claims: [
    { name: EVIL, from: `private_metadata.${EVIL}`, scope: 'openid' },
    { name: EVIL, from: 'tenant.slug', scope: 'openid' },
  ],
  resource: EVIL,
  login_hint: EVIL,
  registration: { password_min: 8 },
  methods: ['password', 'passkey', 'email_otp', 'magic_link', 'google'],
  account: { email: EVIL },
  tenant: { display_name: EVIL, branding, language: 'en' },
};

const second = { token: 't', methods: ['totp', 'passkey', 'recovery'], isEnrolment: false };
const STEPS: readonly (readonly [string, Progress, 'login' | 'create' | 'consent'])[] = [
  ['login', { step: 'begun' }, 'login'],
  ['consent', { step: 'begun' }, 'consent'],
  ['registration', { step: 'registering' }, 'create'],
  ['registered', { step: 'registered', email: EVIL, userId: EVIL, mail: 'notice' }, 'create'],
  ['restarted', { step: 'restarted' }, 'consent'],
  ['code', { step: 'mailed', method: 'otp', email: EVIL, challengeId: EVIL }, 'login'],
  ['link', { step: 'mailed', method: 'magic_link', email: EVIL, challengeId: EVIL }, 'login'],
  ['second factor', { step: 'second_factor', ...second }, 'login'],
  ['enrolment', { step: 'second_factor', ...second, isEnrolment: true }, 'login'],
  [
    'enrolment of an app',
    {
      ...{ step: 'second_factor', ...second, isEnrolment: true },
      totp: { challengeId: EVIL, secret: EVIL, url: `otpauth://totp/${EVIL}` },
    },
    'login',
  ],
];

describe.each(LANGUAGES)('a page in %s', (language) => {
  const frame = frameOf(
    { displayName: EVIL, settings: { branding, language: 'en' } },
    {
      'accept-language': language,
    },
  );
  const shown = (progress: Progress, prompt: 'login' | 'create' | 'consent'): Html =>
    interactionPage(
      {
        ...{ frame, view: { ...view, prompt }, path: '/oauth2/interaction/uid' },
        ...{ alert: EVIL, email: EVIL, publicUrl: 'https://id.example', tenantId: EVIL },
      },
      { progress, redirectUri: 'com.example.app:/callback' } as Interaction,
    );

  it.each(STEPS)('escapes whatever it shows: %s', (_name, progress, prompt) => {
    const { html, headers } = shown(progress, prompt);
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain(`"'>`);
    expect(html).toContain(`<html lang="${language}">`);
    expect(html).not.toMatch(/\sstyle="|\son\w+="/);
    const policy = headers['Content-Security-Policy'] ?? '';
    expect(policy).toContain("form-action 'self' com.example.app:");
    expect(policy).not.toMatch(/unsafe|\*/);
    const scripts = [...html.matchAll(/<script/g)].length;
    expect(policy.includes('script-src'), 'a script that is named').toBe(scripts === 1);
  });

  it('escapes what it shows of a device [oauth 37]', () => {
    const secret = 'f'.repeat(48);
    const device = { device: { user_code: EVIL } };
    const shownPages = [
      interactionPage(
        {
          ...{ frame, view: { ...view, ...device }, path: '/oauth2/interaction/uid' },
          ...{ publicUrl: 'https://id.example', tenantId: EVIL },
        },
        { progress: { step: 'begun' } } as Interaction,
      ),
      deviceCodePage(frame, { secret, fault: 'device.wrong', typed: EVIL }),
      deviceConfirmPage(frame, { secret, userCode: EVIL, client: EVIL, scopes: [EVIL] }),
    ];
    for (const { html, headers } of shownPages) {
      expect(html).not.toContain('<script>alert');
      expect(html).not.toContain(`"'>`);
      expect(headers['Content-Security-Policy']).toContain("form-action 'self';");
    }
  });

  it('lets in no picture but the logo of its tenant', () => {
    const { html, headers } = shown({ step: 'begun' }, 'login');
    expect(headers['Content-Security-Policy']).toContain('img-src https://cdn.example;');
    expect([...html.matchAll(/<(?:img|link|iframe|object)\b/g)]).toHaveLength(1);
  });

  it('shows recovery codes and where to go on, escaped', () => {
    const { html } = page(frame, recoveryCodesPage(frame, { codes: [EVIL], to: EVIL }));
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain(`"'>`);
  });
});
