/**
 * ntfy: JSON to the root of the server, with the topic from the channel's URL. Text is not read as Markdown unless the
 * message says so. ntfy would turn a message above 4,096 bytes into a file.
 * https://docs.ntfy.sh/publish/#publish-as-json
 */
import type { Severity } from '../../../requests/requests.module.ts';
import type { ChannelMessage } from '../channel-message.ts';

const PRIORITIES: { readonly [severity in Severity]: number } = { low: 2, medium: 3, high: 4 };
const MESSAGE_BYTES_MAX = 4_000;

/** Drops whole lines from the end. Texts are truncated earlier, so this is rarely needed. */
function within(lines: readonly string[]): string {
  const fits = [...lines];
  while (Buffer.byteLength(fits.join('\n')) > MESSAGE_BYTES_MAX) fits.pop();
  return fits.join('\n');
}

export function ntfyBody({ summary, title, facts, link, severity }: ChannelMessage, topic: string) {
  const lines = facts.map(([label, value]) => `${label}: ${value}`);
  return {
    topic,
    title,
    message: lines.length === 0 ? summary : within(lines),
    click: link.url,
    priority: PRIORITIES[severity],
  };
}
