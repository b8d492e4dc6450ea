/** Checks that web pages of an origin may call the server from a browser. */

import { responds, type CheckContext } from './check-context.ts';
import { sendRequest, type HttpResponse } from './http-request.ts';
import { ok, problem, type Finding, type Findings } from './finding.ts';
import { checkSocket } from './socket-check.ts';

const sent = ['authorization', 'content-type'];
const read = ['token-expired', 'www-authenticate'];

export async function* checkCors({ clock, server }: CheckContext, origin: string): Findings {
  const { url } = server;
  if (url === undefined || !(await responds(server))) {
    yield problem('No server responds, so CORS cannot be checked.', 'Specify a server with --url.');
    return;
  }
  const isOwn = new URL(url).origin === origin;
  if (isOwn) {
    yield ok(`${origin} is the origin of the server itself: browsers do not restrict its pages.`);
  } else {
    const preflight = await sendRequest(clock, `${url}/graphql`, {
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
    const response = await sendRequest(clock, `${url}/graphql`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: '{"query":"{__typename}"}',
    });
    yield judgeResponse(response, origin);
  }
  yield* checkSocket(url, { origin });
}

function judgePreflight(response: HttpResponse, origin: string): Finding {
  const fault = allowedFault(response, origin);
  if (response.status >= 300 || fault) {
    return problem(
      `Browsers do not let pages of ${origin} call the server: the preflight request (OPTIONS) returns ${response.status}${fault ? ` with ${fault}` : ''}.`,
      `Add ${origin} to ESPALIER_CORS_ORIGINS, and make sure that a proxy forwards OPTIONS requests.`,
    );
  }
  const methods = listOf(response, 'access-control-allow-methods');
  const headers = listOf(response, 'access-control-allow-headers');
  const missing = sent.filter((name) => !headers.includes(name));
  if (!methods.includes('post') || missing.length > 0) {
    return problem(
      `Pages of ${origin} may not send ${[...(methods.includes('post') ? [] : ['POST']), ...missing].join(', ')}.`,
      'A proxy responds instead of the server, or changes its headers. Correct its configuration.',
    );
  }
  return ok(`Pages of ${origin} may call the server.`);
}

function judgeResponse(response: HttpResponse, origin: string): Finding {
  const fault = allowedFault(response, origin);
  if (fault) {
    return problem(
      `Pages of ${origin} may call the server but cannot read the response: it has ${fault}.`,
      'A proxy changes the headers. Correct its configuration.',
    );
  }
  const exposed = listOf(response, 'access-control-expose-headers');
  const missing = read.filter((name) => !exposed.includes(name));
  return missing.length === 0
    ? ok('They can distinguish an expired token from an invalid one.')
    : problem(
        `They cannot read the headers ${missing.join(', ')}.`,
        'A proxy changes the headers. Correct its configuration.',
      );
}

/** Browsers accept exactly one value. */
function allowedFault({ headers }: HttpResponse, origin: string): string | undefined {
  const allowed = headers['access-control-allow-origin'];
  if (allowed === undefined) return 'no Access-Control-Allow-Origin';
  if (allowed.includes(',')) return `two values of Access-Control-Allow-Origin (${allowed})`;
  return allowed === origin || allowed === '*'
    ? undefined
    : `Access-Control-Allow-Origin for ${allowed} only`;
}

function listOf({ headers }: HttpResponse, name: string): string[] {
  return String(headers[name] ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase());
}
