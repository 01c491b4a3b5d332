/**
 * Two pages of a sign-in without a target: one asks for the organization, the other says that the sign-in must be
 * started again.
 */
import { field, type Html, hidden, html, mainButton, page } from '@cardea/pages';
import type { Frame } from '../../pages/frame.ts';

export function organizationPage(
  frame: Frame,
  of: { readonly action: string; readonly returnTo: string; readonly name: string | undefined },
): Html {
  const { say } = frame;
  const { action, returnTo, name = '' } = of;
  return page(frame, {
    title: say('page_sign_in.title'),
    alert: name === '' ? undefined : say('page_sign_in.unknown'),
    body: html`<p>${say('page_sign_in.lead')}</p>
<form action="${action}" method="get">
${hidden('return_to', returnTo)}${field({ name: 'in', label: say('page_sign_in.organization'), value: name, autocomplete: 'organization' })}${mainButton(say('page_sign_in.submit'))}
</form>`,
  });
}

export const lapsedSignInPage = (frame: Frame, again: string): Html =>
  page(frame, {
    title: frame.say('failed.title'),
    body: html`<p>${frame.say('page_sign_in.lapsed')}</p>
<p><a class="button" href="${again}">${frame.say('page_sign_in.again')}</a></p>`,
  });
