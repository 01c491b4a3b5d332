import { describe, expect, it } from 'vitest';
import { mayConsume } from './verify-email.route.ts';

describe('who may use a token up by a GET', () => {
  it.each([
    { name: 'a program', headers: { 'user-agent': 'curl/8', accept: '*/*' }, may: true },
    { name: 'a program without headers', headers: {}, may: true },
    {
      name: 'a script in a browser that asks for JSON',
      headers: { 'user-agent': 'Mozilla/5.0', accept: 'application/json' },
      may: true,
    },
    {
      name: 'a browser',
      headers: { 'user-agent': 'Mozilla/5.0', accept: 'text/html,*/*' },
      may: false,
    },
    {
      name: 'a script in a browser, by fetch()',
      headers: {
        ...{ 'user-agent': 'Mozilla/5.0', accept: '*/*' },
        ...{ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-site' },
      },
      may: true,
    },
    {
      name: 'a script that asks for HTML',
      headers: { accept: 'text/html', 'sec-fetch-mode': 'same-origin', 'sec-fetch-dest': 'empty' },
      may: true,
    },
    {
      name: 'a script in an old browser',
      headers: { 'user-agent': 'Mozilla/5.0', accept: '*/*' },
      may: true,
    },
    {
      name: 'a browser that navigates',
      headers: { accept: '*/*', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      may: false,
    },
    { name: 'a prefetch', headers: { accept: '*/*', 'sec-purpose': 'prefetch' }, may: false },
    { name: 'an old prefetch', headers: { accept: '*/*', purpose: 'prefetch' }, may: false },
  ])('identity 9 is told by its headers: $name', ({ headers, may }) => {
    expect(mayConsume(headers)).toBe(may);
  });
});
