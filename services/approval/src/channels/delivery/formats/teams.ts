/**
 * The webhook of a Microsoft Teams workflow: a message with one Adaptive Card. Text from users and agents is in text
 * runs, because text blocks and facts interpret Markdown.
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 */
import type { ChannelMessage } from '../channel-message.ts';

const run = (
  text: string,
  style: { readonly size?: 'large'; readonly weight?: 'bolder' } = {},
) => ({
  type: 'TextRun' as const,
  // Cards replace {{DATE(…)}} in every text, so double braces are separated.
  text: text.replaceAll('{{', '{ {'),
  ...style,
});
const paragraph = (...inlines: readonly ReturnType<typeof run>[]) => ({
  type: 'RichTextBlock' as const,
  inlines,
});

export function teamsBody({ title, facts, link }: ChannelMessage) {
  return {
    type: 'message' as const,
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive' as const,
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard' as const,
          version: '1.2',
          body: [
            paragraph(run(title, { size: 'large', weight: 'bolder' })),
            ...facts.map(([label, value]) =>
              paragraph(run(`${label}: `, { weight: 'bolder' }), run(value)),
            ),
          ],
          actions: [{ type: 'Action.OpenUrl' as const, title: link.label, url: link.url }],
        },
      },
    ],
  };
}
