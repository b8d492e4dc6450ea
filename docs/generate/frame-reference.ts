/** Creates the page of all socket frames from the conversations that a test has with the server. */

import { conversations, type Conversation, type ExampleFrame } from './socket-conversations.ts';
import { formatTable } from './markdown.ts';

export function createFrameReference(all: readonly Conversation[] = conversations): string {
  const protocols = [...new Set(all.map(({ protocol }) => protocol.name))];
  return `<!-- Made by npm run generate. -->

# Socket frames

All that is said over a WebSocket at \`/graphql\` or \`/graphql/ws\`: frames of text, each a JSON object, of at most 64 KiB to the server. Which of the two
sub-protocols is spoken, the client says when it opens the socket (\`Sec-WebSocket-Protocol\`). [Live](../clients/follow-changes.md) tells how to use it, [Errors](errors.md#close-codes-of-sockets) why
a socket is closed. A test has these conversations with a real server. \`→\` is sent by the client.

${protocols.map((name) => formatProtocol(all.filter(({ protocol }) => protocol.name === name))).join('\n\n')}
`;
}

function formatProtocol(talks: readonly Conversation[]): string {
  const frames = talks.flatMap((talk) => talk.frames);
  const described = frames.filter(({ about }) => about !== '');
  const rows = described.map(({ from, about, frame }) => [
    `\`${frame.type}\``,
    from === 'client' ? '→' : '←',
    `${about[0]!.toUpperCase()}${about.slice(1)}.`,
  ]);
  return [
    `## \`${talks[0]!.protocol.name}\``,
    formatTable(['Frame', '', 'What it is'], rows),
    ...talks.map((talk) => ['```text', ...talk.frames.flatMap(formatFrame), '```'].join('\n')),
  ].join('\n\n');
}

function formatFrame({ from, frame, once }: ExampleFrame): string[] {
  const line = `${from === 'client' ? '→' : '←'} ${JSON.stringify(frame)}`;
  return once ? [`  (${once})`, line] : [line];
}
