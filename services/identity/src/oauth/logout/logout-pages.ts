/** The pages of a sign-out: the question, the confirmation that it is done, and the refusal with its reason. */
import {
  form,
  type Html,
  hidden,
  html,
  type Markup,
  mainButton,
  page,
  plainPage,
} from '@cardea/pages';
import type { Frame } from '../../pages/frame.ts';
import { type Onward, onwardLinks } from '../../pages/onward.ts';

export type LogoutQuestion = {
  readonly action: string;
  readonly email: string | undefined;
  /** The fields that the form posts again, if the browser continues to an application. */
  readonly fields: { readonly [name: string]: string };
  readonly to: string | undefined;
};

export function logoutQuestionPage(frame: Frame, of: LogoutQuestion): Html {
  const { say } = frame;
  const { email } = of;
  const lead = email === undefined ? say('sign_out.lead_unknown') : say('sign_out.lead', { email });
  const fields: Markup[] = Object.entries(of.fields).map(([name, value]) => hidden(name, value));
  return page(frame, {
    title: say('sign_out.title'),
    body: html`<p>${lead}</p>
${form(of.action, ...fields, mainButton(say('sign_out.submit')))}<p>${say('sign_out.stay')}</p>`,
    redirectUri: of.to,
  });
}

export const signedOutPage = (frame: Frame, to: readonly Onward[]): Html =>
  plainPage(
    frame,
    frame.say('sign_out.done.title'),
    frame.say('sign_out.done.lead'),
    onwardLinks(frame, to),
  );

export const refusedLogoutPage = (frame: Frame, code: string): Html =>
  plainPage(frame, frame.say('failed.title'), frame.say('failed.request', { code }));
