/** Checks the settings and shows them, without secrets. */
import { SETTING_FORMS, type Secret, type Settings } from '@cardea/runtime';
import { type Call, type Command, done, table, textOf } from '../command.ts';
import { settingsOf } from '../deployment.ts';

const read = (call: Call) => settingsOf({ env: call.env, data: textOf(call, 'data') });

export const configCheck: Command = {
  name: 'config check',
  summary: 'Lists all faults of the settings at once.',
  run: async (call) => {
    read(call);
    return done(['The settings are right.'], { faults: [] });
  },
};

export const configList: Command = {
  name: 'config list',
  summary:
    'Lists all settings with their form and value. Of a secret it only shows whether it is set.',
  run: async (call) => {
    const { settings } = read(call);
    const all = SETTING_FORMS.map(({ name, form, secret, required }) => ({
      name,
      form,
      secret,
      required,
      value: shown(settings, name as keyof Settings, secret),
    }));
    const rows = all.map(({ name, value, form }) => [name, value, form]);
    return done(table(rows), { settings: all });
  },
};

function shown(settings: Settings, name: keyof Settings, isSecret: boolean): string {
  const value = settings[name];
  if (value === undefined) return '(unset)';
  if (isSecret) return (value as Secret).reveal() === '' ? '(unset)' : '(set)';
  return Array.isArray(value) ? value.join(',') || '(none)' : String(value);
}
