/** Whether a web page of an origin may call the server from a browser. */

import { answers, type Examined } from './check-context.ts';
import { ask, type Answer } from './http-request.ts';
import { ok, problem, type Finding, type Findings } from './finding.ts';
import { checkSocket } from './socket-check.ts';

const sent = ['authorization', 'content-type'];
const read = ['token-expired', 'www-authenticate'];

export async function* checkCors({ clock, server }: Examined, origin: string): Findings {
  const { url } = server;
  if (url === undefined || !(await answers(server))) {
    yield problem('No server answers that could be asked.', 'Name one with --url.');
    return;
  }
  const isOwn = new URL(url).origin === origin;
  if (isOwn) {
    yield ok(`${origin} is the server's own: browsers do not ask.`);
  } else {
    const preflight = await ask(clock, `${url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': sent.join(','),
      },
    });
    const judged = judgePreflight(preflight, origin);
    yield judged;
    if (judged.state !== 'ok') return;
    const answer = await ask(clock, `${url}/graphql`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: '{"query":"{__typename}"}',
    });
    yield judgeAnswer(answer, origin);
  }
  yield* checkSocket(url, { origin });
}

function judgePreflight(answer: Answer, origin: string): Finding {
  const fault = allowedFault(answer, origin);
  if (answer.status >= 300 || fault) {
    return problem(
      `A browser would not let pages of ${origin} call: the question before (OPTIONS) is answered with ${answer.status}${fault ? ` and ${fault}` : ''}.`,
      `Add ${origin} to ESPALIER_CORS_ORIGINS, and let the proxy pass OPTIONS on.`,
    );
  }
  const methods = listOf(answer, 'access-control-allow-methods');
  const headers = listOf(answer, 'access-control-allow-headers');
  const missing = sent.filter((name) => !headers.includes(name));
  if (!methods.includes('post') || missing.length > 0) {
    return problem(
      `Pages of ${origin} may not send ${[...(methods.includes('post') ? [] : ['POST']), ...missing].join(', ')}.`,
      'Something in between answers for the server, or changes its headers.',
    );
  }
  return ok(`Pages of ${origin} may call.`);
}

function judgeAnswer(answer: Answer, origin: string): Finding {
  const fault = allowedFault(answer, origin);
  if (fault) {
    return problem(
      `Pages of ${origin} may call, and not read the answer: it has ${fault}.`,
      'Something in between changes the headers.',
    );
  }
  const exposed = listOf(answer, 'access-control-expose-headers');
  const missing = read.filter((name) => !exposed.includes(name));
  return missing.length === 0
    ? ok('They can tell an expired token from a wrong one.')
    : problem(`They cannot read ${missing.join(', ')}.`, 'Something in between changes the headers.');
}

/** One value, and once. */
function allowedFault({ headers }: Answer, origin: string): string | undefined {
  const allowed = headers['access-control-allow-origin'];
  if (allowed === undefined) return 'no Access-Control-Allow-Origin';
  if (allowed.includes(',')) return `two of Access-Control-Allow-Origin (${allowed})`;
  return allowed === origin || allowed === '*'
    ? undefined
    : `Access-Control-Allow-Origin for ${allowed} only`;
}

function listOf({ headers }: Answer, name: string): string[] {
  return String(headers[name] ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase());
}
