/**
 * `npm run tour [-- --base URL] [--mailbox URL] [--browser] [--json]` plays the whole story against a running
 * instance, or against a new one that it starts. With `--browser` the user decides on the page of the request.
 */
import { parseArgs } from 'node:util';
import { phone } from './tour/phone.ts';
import { player, Surprise } from './tour/player.ts';
import { playStory } from './tour/story.ts';

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    mailbox: { type: 'string' },
    browser: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const print = (line: string): void => {
  if (!values.json) process.stdout.write(`${line}\n`);
};

const instance = values.base === undefined ? await instanceOfItsOwn() : undefined;
const base = values.base ?? instance?.base ?? '';
const teller = player(base, print);
const bobs = values.browser ? await phone() : undefined;
if (values.browser && bobs === undefined) {
  print('There is no Chromium (CHROMIUM_BINARY names one): the user decides by the API.');
}
try {
  const mailbox = values.mailbox ?? ((await hasMailbox(base)) ? base : undefined);
  await playStory(teller, mailbox, bobs);
  print('\nEvery step answered as the story says.');
  if (values.json) process.stdout.write(`${JSON.stringify({ ok: true, steps: teller.told() })}\n`);
} catch (error) {
  if (!(error instanceof Surprise)) throw error;
  if (values.json) {
    const { message } = error;
    process.stdout.write(`${JSON.stringify({ ok: false, message, steps: teller.told() })}\n`);
  }
  process.stderr.write(`\nThe story stopped here:\n${error.message}\n`);
  process.exitCode = 1;
} finally {
  await bobs?.close();
  await instance?.stop();
}

async function hasMailbox(url: string): Promise<boolean> {
  const page = await fetch(new URL('/dev/mailbox', url), {
    headers: { accept: 'application/json' },
  });
  await page.body?.cancel();
  return page.status === 200;
}

/** Loaded only without a running instance, because containers that play the story have no test kit. */
async function instanceOfItsOwn() {
  const { temporaryInstance } = await import('@cardea/testing');
  return temporaryInstance(print);
}
