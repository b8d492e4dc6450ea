/**
 * The page on which a person confirms that a program on the same machine may sign in (RFC 8252 §8.6). Every program can start a
 * sign-in, and the provider asks for nothing if the browser is signed in there. The page works without scripts and without the console.
 */

import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

interface ProgramSignIn {
  /** The address of the program, with the one-time code. */
  readonly address: string;
  /** The host of this server. */
  readonly host: string;
  /** The name of the provider. */
  readonly provider: string;
  /** The user name at the provider. */
  readonly username: string | null;
}

const style = `
:root { color-scheme: light dark; }
body {
  margin: 0; padding: 2rem 1rem; color: light-dark(#1a211c, #e6ebe7); background: light-dark(#f5f6f4, #131614);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main { max-width: 34rem; margin: 0 auto; }
h1 { font-size: 1.5rem; line-height: 1.3; }
code { white-space: nowrap; }
a {
  display: inline-block; padding: 0.75rem 1.5rem; border-radius: 6px; font-weight: 600; text-decoration: none;
  color: light-dark(#ffffff, #0c1f15); background: light-dark(#1d6b47, #7fd1a5);
}
a:hover { background: light-dark(#155538, #9be0bb); }
a:focus-visible { outline: 3px solid light-dark(#1463c9, #8cbcff); outline-offset: 3px; }
`;

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function sendProgramPage(reply: FastifyReply, signIn: ProgramSignIn): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', policy)
    .send(formatPage(signIn));
}

function formatPage({ address, host, provider, username }: ProgramSignIn): string {
  const title = `Sign in to ${escapeHtml(host)} in a program on this computer?`;
  const as = username === null ? '' : ` as <strong><bdi>${escapeHtml(username)}</bdi></strong>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>You are signed in at ${escapeHtml(provider)}${as}. The program will be able to do everything that you can do on this server.</p>
<p>Continue only if you have just started this sign-in, for example with <code>espalier login --sso</code>. You have one minute.</p>
<p><a href="${escapeHtml(address)}">Continue</a></p>
<p>To cancel, close this page.</p>
</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
