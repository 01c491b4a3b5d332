/**
 * ntfy: JSON to the root of its server, with the topic of the channel's URL. Nothing is read as Markdown unless a
 * message says so; a message above 4,096 bytes would become a file. https://docs.ntfy.sh/publish/#publish-as-json
 */
import type { Severity } from '../../../requests/requests.module.ts';
import type { ChannelMessage } from '../channel-message.ts';

const PRIORITIES: { readonly [severity in Severity]: number } = { low: 2, medium: 3, high: 4 };
const MESSAGE_BYTES_MAX = 4_000;

/** Whole lines are left out from the end; texts are cut before, so that hardly any message is that long. */
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
