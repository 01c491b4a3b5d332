/** Events that end a part of the basis of deferred credentials. */
import { AUTH, inTenant, type Part, sidOf, sourceOf, type World } from './deferred-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';

const NEW_PASSWORD = 'another password of theirs';

type Ending = {
  readonly ends: readonly Part[];
  readonly isUnverified?: true;
  readonly happen: (here: World, person: Account) => Promise<void>;
};

const ok = (answer: { readonly status: number; readonly text: string }): void => {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
};

const USER = ['user', 'browser', 'login'] as const;

export const EVENTS: { readonly [event: string]: Ending } = {
  'the password is changed': {
    ends: USER,
    happen: async ({ fixture }, person) => {
      const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
      ok(await fixture.as(person).post('/api/v1/user/change-password', body));
    },
  },
  'all other sessions are ended': {
    ends: USER,
    happen: async ({ fixture }, person) => {
      ok(await fixture.as(person).delete('/api/v1/me/sessions'));
    },
  },
  'an administrator ends all sessions': {
    ends: USER,
    happen: async ({ fixture, admin }, { userId }) => {
      ok(await fixture.as(admin).post(`/api/v1/admin/users/${userId}/revoke-sessions`));
    },
  },
  'the password is reset by mail': {
    ends: USER,
    happen: async ({ fixture }, person) => {
      await fixture.rest.delete('/dev/mailbox');
      const { email } = person;
      await fixture.rest.post(`${AUTH}/forgot-password`, { email }, inTenant(person));
      const { token: secret } = await fixture.mail(email, /password/i);
      const body = { token: secret, new_password: NEW_PASSWORD };
      ok(await fixture.rest.post(`${AUTH}/reset-password`, body));
    },
  },
  'the account is disabled and enabled again': {
    ends: USER,
    happen: async ({ fixture, admin }, { userId }) => {
      for (const status of ['disabled', 'active']) {
        ok(await fixture.as(admin).patch(`/api/v1/admin/users/${userId}`, { status }));
      }
    },
  },
  'the account is reclaimed by whoever proves its address': {
    ends: USER,
    isUnverified: true,
    happen: async ({ fixture }, person) => {
      const { email } = person;
      await fixture.rest.delete('/dev/mailbox');
      await fixture.rest.post(`${AUTH}/otp/send`, { email }, inTenant(person));
      const { text } = await fixture.mail(email, /code/i);
      const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0];
      ok(await fixture.rest.post(`${AUTH}/otp/verify`, { code, email }, inTenant(person)));
    },
  },
  'the account is deleted': {
    ends: [...USER, 'consent'],
    happen: async ({ fixture, admin }, { userId }) => {
      ok(await fixture.as(admin).delete(`/api/v1/admin/users/${userId}`));
    },
  },
  'the session that it came from is ended': {
    ends: ['browser', 'login'],
    happen: async ({ fixture }, person) => {
      const { browserSid, login } = sourceOf(person);
      const sid = browserSid ?? (login === undefined ? undefined : sidOf(login.access));
      if (sid !== undefined) ok(await fixture.as(person).delete(`/api/v1/me/sessions/${sid}`));
    },
  },
  'the consent is withdrawn': {
    ends: ['consent'],
    happen: async ({ fixture }, person) => {
      const { body } = await fixture.as(person).get('/api/v1/auth/consents');
      for (const { id } of body.consents) {
        ok(await fixture.as(person).delete(`/api/v1/auth/consents/${id}`));
      }
    },
  },
  'the application is narrowed': {
    ends: ['application'],
    happen: async ({ fixture, admin }, person) => {
      const { id } = sourceOf(person).client ?? {};
      if (id === undefined) return;
      const body = { scopes: ['openid', 'offline_access'] };
      ok(await fixture.as(admin).patch(`/api/v1/admin/applications/${id}`, body));
    },
  },
  'the application is deleted': {
    ends: ['application', 'consent'],
    happen: async ({ fixture, admin }, person) => {
      const { id } = sourceOf(person).client ?? {};
      if (id !== undefined) ok(await fixture.as(admin).delete(`/api/v1/admin/applications/${id}`));
    },
  },
};
