/** Parts that this service's pages share. */
import { html, type Markup } from '@cardea/pages';
import { cleaned } from '@cardea/runtime';
import type { ShownRequest } from '../requests/requests.module.ts';

export const SEVERITY_TONES = { low: 'info', medium: 'info', high: 'warn' } as const;
export const STATE_TONES = {
  approved: 'good',
  denied: 'bad',
  expired: 'warn',
  pending: 'info',
} as const;

export const linkTo = ({ id, agent_name: name }: ShownRequest): Markup =>
  html`<a href="/approve/${id}">${cleaned(name)}</a>`;

export const whatOf = ({ resource, action }: ShownRequest): string => resource ?? action;
