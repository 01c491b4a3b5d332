/** Prints the page of all settings; `--write` writes it to `docs/settings.md`. */
import { writeFileSync } from 'node:fs';
import { settingsPage } from './settings/page.ts';

if (process.argv.includes('--write')) writeFileSync('docs/settings.md', settingsPage());
else process.stdout.write(settingsPage());
