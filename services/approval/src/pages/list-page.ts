/** The page that lists what waits for the person who looks at it. */
import type { Endpoint } from '@cardea/http';
import { utcText } from '@cardea/mail';
import { html, type PageOf, type Shown, table, tag } from '@cardea/pages';
import { cleaned } from '@cardea/runtime';
import type { ShownRequest } from '../requests/requests.module.ts';
import { atTheTop, SEVERITY_TONES } from './parts.ts';
import type { TextKey } from './texts.ts';

type Waiting = { readonly requests: readonly ShownRequest[] };

export const listPage = (pending: Endpoint): PageOf<TextKey, Waiting> => ({
  name: 'waiting_page',
  summary: 'What waits for a decision',
  description: 'Lists the requests that wait for the person who is signed in.',
  path: '/approve',
  reads: pending,
  forms: {},
  view: (page) => ({
    title: page.frame.say('list.title'),
    width: 'wide',
    body: html`${atTheTop(page, undefined)}${page.data.requests.length === 0 ? nothing(page) : rows(page)}`,
  }),
});

const nothing = ({ frame }: Shown<TextKey, Waiting>) =>
  html`<p>${frame.say('list.none')}</p><p class="muted">${frame.say('list.help')}</p>`;

function rows({ frame, data }: Shown<TextKey, Waiting>) {
  const { say } = frame;
  return table({
    caption: say('list.caption'),
    columns: [
      { label: say('list.agent') },
      { label: say('list.what') },
      { label: say('list.severity') },
      { label: say('list.until') },
    ],
    rows: data.requests.map((request) => [
      html`<a href="/approve/${request.id}">${cleaned(request.agent_name)}</a>`,
      request.resource ?? request.action,
      tag(SEVERITY_TONES[request.severity], say(`severity.${request.severity}`)),
      utcText(request.expires_at),
    ]),
  });
}
