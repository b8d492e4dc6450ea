/** An hour in the life of the estate of the pictures, so that charts, sessions and histories have something to tell. */

import type { LoginResponse } from '@espalier/contract';
import type { ConsoleTestbed, Who } from '../tests/console/console-testbed.ts';

const agents = {
  firefox: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:147.0) Gecko/20100101 Firefox/147.0',
  safari:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.2 Mobile/15E148 Safari/604.1',
  curl: 'curl/8.17.0',
};
/** The auth tokens of all are exchanged before they end. */
const exchangeEveryMinutes = 9;

interface SignedIn {
  readonly agent: string;
  readonly pair: LoginResponse;
}

export async function spendAnHour(bed: ConsoleTestbed): Promise<void> {
  const { demo, tree } = bed;
  const server = tree.testbed;
  const post = (path: string, body: object, agent: string, authToken?: string) =>
    server.postRaw(path, JSON.stringify(body), {
      'content-type': 'application/json',
      'user-agent': agent,
      ...(authToken && { authorization: `Bearer ${authToken}` }),
    });
  const signedIn: SignedIn[] = [];
  const signIn = async (who: Who, agent: string) => {
    const answer = await post('/login', { username: who, password: bed.passwordOf(who) }, agent);
    signedIn.push({ agent, pair: answer.json<LoginResponse>() });
  };
  const mistype = (who: Who) =>
    post('/login', { username: who, password: 'quince in brown paper' }, agents.curl);
  const exchange = async ({ agent, pair: { authToken, refreshToken } }: SignedIn): Promise<SignedIn> => {
    const answer = await post('/login/refresh', { refreshToken }, agent, authToken);
    return { agent, pair: answer.json<LoginResponse>() };
  };
  const work = (name: string, input: Record<string, unknown>) =>
    tree.mutate(name, input, 'cursor', signedIn[0]!.pair.authToken);
  const campus = await demo.idOf('/Places/Harbour Campus');

  /** By the minute in which it happens. */
  const events: Readonly<Record<number, () => Promise<unknown>>> = {
    0: () => signIn('ada', agents.firefox),
    5: () => mistype('tim'),
    6: () => mistype('tim'),
    14: () =>
      work('updateFolder', {
        id: campus,
        description: 'The oldest site, on the north quay. Ask the porter for the keys.',
      }),
    22: () => signIn('grace', agents.safari),
    37: () => signIn('admin', agents.curl),
    44: () => work('createFolder', { parentId: campus, name: 'Floor 12' }),
    52: () => mistype('grace'),
  };
  for (let minute = 0; minute < 60; minute++) {
    await events[minute]?.();
    if (minute % exchangeEveryMinutes === exchangeEveryMinutes - 1) {
      for (const [at, one] of signedIn.entries()) signedIn[at] = await exchange(one);
    }
    const requests = 40 + Math.round(25 * Math.sin(minute / 6)) + ((minute * 7) % 17);
    for (let request = 0; request < requests; request++) {
      await server.query('{folder{name}}', signedIn[request % signedIn.length]!.pair.authToken);
    }
    server.clock.advanceSeconds(60);
  }
  tree.authToken = (await server.logIn()).authToken;
}
