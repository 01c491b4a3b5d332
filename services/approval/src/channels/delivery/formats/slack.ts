/**
 * Slack's incoming webhooks. Text from users and agents appears only as `plain_text`. In `mrkdwn`, which `text` is too,
 * it could mention people and contain links. https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
import type { ChannelMessage } from '../channel-message.ts';

/** Slack refuses longer header blocks. */
const HEADER_CHARS_MAX = 150;

const plain = (text: string) => ({ type: 'plain_text' as const, text, emoji: false });

export function slackBody({ summary, title, facts, link }: ChannelMessage) {
  return {
    text: summary,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header' as const, text: plain([...title].slice(0, HEADER_CHARS_MAX).join('')) },
      ...(facts.length === 0
        ? []
        : [
            {
              type: 'section' as const,
              fields: facts.map(([label, value]) => plain(`${label}\n${value}`)),
            },
          ]),
      {
        type: 'actions' as const,
        elements: [{ type: 'button' as const, text: plain(link.label), url: link.url }],
      },
    ],
  };
}
