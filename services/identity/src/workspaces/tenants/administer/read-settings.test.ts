import { describe, expect, it } from 'vitest';
import { readSettings } from './read-settings.ts';

describe('the settings that an owner asks for', () => {
  it.each([
    { app_url: 'https://app.example/', env: 'production', read: 'https://app.example' },
    { app_url: 'https://app.example/a', env: 'production', read: 'https://app.example/a' },
    { app_url: 'http://localhost:3000', env: 'development', read: 'http://localhost:3000' },
    { app_url: 'http://localhost:3000', env: 'production', read: undefined },
    { app_url: 'http://app.example', env: 'development', read: undefined },
    { app_url: 'https://a:b@app.example', env: 'production', read: undefined },
    { app_url: 'https://app.example#x', env: 'production', read: undefined },
    { app_url: 'javascript:alert(1)', env: 'development', read: undefined },
    { app_url: 'nothing', env: 'development', read: undefined },
  ] as const)('mail links to $app_url in $env: $read', ({ app_url, env, read }) => {
    const settings = readSettings({ app_url }, env);
    expect('settings' in settings ? settings.settings.app_url : undefined).toBe(read);
  });

  it('take no role that is built in, and no picture from anywhere but https', () => {
    for (const change of [
      { roles: ['billing', 'owner'] },
      { branding: { logo_url: 'https://a:b@app.example/logo.png' } },
    ]) {
      expect(readSettings(change, 'production')).toMatchObject({ refused: 'invalid_request' });
    }
    const fine = { roles: ['billing'], app_url: null, branding: { logo_url: null } };
    expect(readSettings(fine, 'production')).toEqual({ settings: fine });
  });
});
