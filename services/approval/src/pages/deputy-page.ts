/** The page at which a person names who decides in their place. */
import { utcText } from '@cardea/mail';
import { facts, html, type Markup, pagesOf, read, type Shown } from '@cardea/pages';
import type { DeputyEndpoints } from '../deputies/deputies.module.ts';
import { TEXTS, type TextKey } from './texts.ts';

type Deputy = {
  readonly user_id: string;
  readonly name: string;
  readonly from: string;
  readonly until: string;
};
type Data = { readonly own: { readonly deputy: Deputy | null } };
type Page = Shown<TextKey, Data>;

const { pageOf, formOf } = pagesOf(TEXTS);

export const deputyPage = ({ get, set, remove }: DeputyEndpoints) =>
  pageOf({
    name: 'deputy_page',
    summary: 'Who decides in the place of the person',
    description: 'Shows the deputy of the person who is signed in, names one, and ends it.',
    path: '/account/deputy',
    reads: { own: read(get) },
    forms: {
      set: formOf(set, {
        title: 'deputy.show',
        submit: 'deputy.set_submit',
        done: 'deputy.set_done',
        refusedAt: { deputy_not_possible: 'user_id' },
        current: ({ own }: Data) => ({ ...own.deputy }),
        fields: [
          { name: 'user_id', label: 'deputy.user', help: 'deputy.user_help' },
          { name: 'from', label: 'deputy.from', help: 'deputy.from_help', kind: 'time' },
          { name: 'until', label: 'deputy.until', help: 'deputy.until_help', kind: 'time' },
        ],
      }),
      remove: formOf(remove, {
        title: 'deputy.remove',
        submit: 'deputy.remove',
        done: 'deputy.remove_done',
        opens: ({ frame: { say } }: Page) => say('deputy.remove_lead'),
        fields: [],
      }),
    },
    view: (page) => {
      const { say } = page.frame;
      const { deputy } = page.data.own;
      return {
        title: say('deputy.title'),
        width: 'form',
        body: html`<p>${say('deputy.lead')}</p>
${shown(page)}${page.form('set')}${deputy === null ? '' : page.form('remove')}`,
      };
    },
    parts: {
      deputy: (page) =>
        html`${shown(page)}<p><a class="button" href="/account/deputy">${page.frame.say('deputy.show')}</a></p>`,
    },
  });

function shown({ frame: { say }, data }: Page): Markup {
  const { deputy } = data.own;
  if (deputy === null) return html`<p class="muted">${say('deputy.none')}</p>`;
  return facts([
    { label: say('deputy.name'), value: deputy.name },
    { label: say('deputy.from'), value: utcText(deputy.from) },
    { label: say('deputy.until'), value: utcText(deputy.until) },
  ]);
}
