/**
 * Discord webhooks: one embed per message. All Markdown characters are escaped, and mentions are disabled.
 * https://docs.discord.com/developers/resources/webhook#execute-webhook
 */
import type { ChannelMessage } from '../channel-message.ts';

const TITLE_CHARS_MAX = 256;
const VALUE_CHARS_MAX = 1_024;

const PUNCTUATION = /[!-/:-@[-`{-~]/g;
const escaped = (text: string) => text.replaceAll(PUNCTUATION, '\\$&');

/** Truncates and then escapes the text to the length that Discord accepts, without cutting an escape sequence. */
function escapedWithin(text: string, charsMax: number): string {
  let whole = '';
  for (const character of text) {
    const next = escaped(character);
    if (whole.length + next.length >= charsMax) return `${whole}…`;
    whole += next;
  }
  return whole;
}

export function discordBody({ title, facts, link }: ChannelMessage) {
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: escapedWithin(title, TITLE_CHARS_MAX),
        url: link.url,
        description: `[${link.label}](${link.url})`,
        fields: facts.map(([name, value]) => ({
          name,
          value: escapedWithin(value, VALUE_CHARS_MAX),
        })),
      },
    ],
  };
}
