/** Generates the page about socket frames from the conversations that a test runs against the server. */

import { conversations, type Conversation, type ExampleFrame } from './socket-conversations.ts';
import { formatTable } from './markdown.ts';

export function createFrameReference(all: readonly Conversation[] = conversations): string {
  const protocols = [...new Set(all.map(({ protocol }) => protocol.name))];
  return `<!-- Made by npm run generate. -->

# Socket frames

Look up each frame of a WebSocket at \`/graphql\` or \`/graphql/ws\`. A frame is a text message with one JSON object. Frames that you send can have at most 64 KiB.
The client selects one of two sub-protocols with the header \`Sec-WebSocket-Protocol\`, for example \`Sec-WebSocket-Protocol: graphql-transport-ws\`.

[WebSockets and event streams](../clients/websockets.md) explains how to use a socket, and [Errors](errors.md#close-codes-of-sockets) lists the close codes. In the examples,
\`→\` marks a frame of the client, \`←\` a frame of the server, and \`…\` a value that varies. Tests run these conversations against a real server.

${protocols.map((name) => formatProtocol(all.filter(({ protocol }) => protocol.name === name))).join('\n\n')}
`;
}

function formatProtocol(protocolConversations: readonly Conversation[]): string {
  const frames = protocolConversations.flatMap((conversation) => conversation.frames);
  const framesWithText = frames.filter(({ about }) => about !== '');
  const rows = framesWithText.map(({ from, about, frame }) => [
    `\`${frame.type}\``,
    from === 'client' ? '→' : '←',
    `${about[0]!.toUpperCase()}${about.slice(1)}.`,
  ]);
  return [
    `## \`${protocolConversations[0]!.protocol.name}\``,
    formatTable(['Frame', '', 'Meaning'], rows),
    ...protocolConversations.map((conversation) =>
      ['```text', ...conversation.frames.flatMap(formatFrame), '```'].join('\n'),
    ),
  ].join('\n\n');
}

function formatFrame({ from, frame, once }: ExampleFrame): string[] {
  const line = `${from === 'client' ? '→' : '←'} ${JSON.stringify(frame)}`;
  return once ? [`  (${once})`, line] : [line];
}
