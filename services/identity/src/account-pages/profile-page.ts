/** A person's own name, picture and language. */
import { facts, html, read } from '@cardea/pages';
import { type AccountEndpoints, formOf, pageOf } from './endpoints.ts';
import { addressOf } from './parts.ts';

const LANGUAGES = [
  { value: '', label: 'language.none' },
  { value: 'en', label: 'language.en' },
  { value: 'de', label: 'language.de' },
] as const;

export const profilePage = ({ getProfile, updateProfile }: AccountEndpoints) =>
  pageOf({
    name: 'profile_page',
    summary: 'The profile of the person who is signed in',
    description: 'Shows the profile, and changes what the person changes of it.',
    path: '/account/profile',
    reads: { profile: read(getProfile) },
    forms: {
      profile: formOf(updateProfile, {
        title: 'profile.edit',
        submit: 'profile.save',
        done: 'profile.done',
        current: ({ profile }: { readonly profile: object }) => ({ ...profile }),
        fields: [
          { name: 'display_name', label: 'profile.name', autocomplete: 'name' },
          { name: 'preferred_username', label: 'profile.username', autocomplete: 'nickname' },
          { name: 'locale', label: 'profile.language', options: LANGUAGES },
          { name: 'avatar_url', label: 'profile.picture', help: 'profile.picture_help' },
        ],
      }),
    },
    view: ({ frame: { say }, data: { profile }, form, curl }) => ({
      title: say('profile.title'),
      width: 'form',
      body: html`${facts([
        { label: say('email'), value: addressOf(say, profile) },
        { label: say('id'), value: html`<code>${profile.id}</code>` },
      ])}<section><h2>${say('profile.edit')}</h2>${form('profile')}</section>${curl('profile')}`,
    }),
  });
